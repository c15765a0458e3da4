//! Accepts a background turn: the client receives a queued response.

use std::sync::Arc;
use std::time::Duration;

use antiphon::json::Object;
use antiphon::stream::queued as queued_events;
use antiphon_store::{ConversationId, NewJob, ResponseId, ResponseRecord, Shard};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::ready;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tracing::Instrument as _;

use super::client::{Answer, Client, Head, receive};
use super::context::{Announced, Turn};
use super::job::{Planning, RunningJob, open_and_plan};
use super::log::number_events;
use super::open::OpenedTurn;
use super::plan::PlannedTurn;
use super::prior_attempt::{PriorAttempt, register_attempt};
use super::replay::replay;
use super::report;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::jobs::{Job, JobRequest};
use crate::lease::RequestRegistration;
use crate::limits::TurnPermit;
use crate::request::{Continues, CreateRequest, RetryEvidence};
use crate::span::Stage;

/// How long the client waits for the plan before it receives the queued response. An invalid
/// request is found in that time, unless the turn has to wait for its conversation.
const PLAN_WAIT: Duration = Duration::from_secs(1);

/// How long a turn may be queued. After that its conversation counts as locked.
const MAX_QUEUED: Duration = Duration::from_hours(1);

/// An accepted request for a background response.
pub(crate) enum Accepted {
    /// A new job.
    New(Head, QueuedResponse),
    /// A retry of a request whose response is still open.
    Open(Head, ResponseId),
    /// A retry of a request that has its answer.
    Replayed(Answer),
}

/// A queued response.
pub(crate) struct QueuedResponse {
    pub(crate) id: ResponseId,
    /// The response object.
    pub(crate) object: String,
}

/// Accepts a turn and runs it in its own task. An error before the turn is accepted adds nothing;
/// a retry may have retracted a cut attempt before.
pub(crate) async fn accept(
    gateway: Arc<Gateway>,
    caller: Caller,
    request: CreateRequest,
    body: Bytes,
    permit: TurnPermit,
) -> Result<Accepted, ApiError> {
    let (sender, accepted) = oneshot::channel();
    let turns = gateway.turns.clone();
    let accepting = async move {
        let mut caller = caller;
        gateway.tracer.begin_background_turn(&mut caller);
        let turn = Turn::new(&gateway, &caller, &request);
        let _open = gateway.metrics.open.turns.count();
        turn.record_in_span();
        match find_shard(&turn) {
            Ok(shard) => {
                let turn = Turn { announced: Some(Announced::now(shard)), ..turn };
                accept_and_run(&turn, shard, &body, permit, sender).await;
            }
            Err(error) => refuse(&turn, error, sender),
        }
    };
    turns.spawn(accepting.in_current_span());
    receive(accepted).await
}

type AcceptSender = oneshot::Sender<Result<Accepted, ApiError>>;

/// Lets a turn wait for its conversation as long as turns may be queued.
pub(super) fn with_queue_wait<'a>(turn: &Turn<'a>) -> Turn<'a> {
    Turn { leases: turn.leases.with_wait(MAX_QUEUED), ..turn.clone() }
}

async fn accept_and_run(
    turn: &Turn<'_>,
    shard: Shard,
    body: &Bytes,
    permit: TurnPermit,
    sender: AcceptSender,
) {
    let queued = with_queue_wait(turn);
    match start(turn, &queued, shard).await {
        Ok(JobStart::Open(id)) => {
            let open = Accepted::Open(report::head_again(&id), id);
            drop(sender.send(Ok(open)));
        }
        Ok(JobStart::Answered(record)) => send_prior_answer(turn, &record, permit, sender).await,
        Ok(JobStart::New { head, planning, registration }) => match store_job(turn, body).await {
            Ok((job, response)) => {
                drop(sender.send(Ok(Accepted::New(head, response))));
                drop(registration);
                RunningJob::new(&queued, job, QUEUED_EVENTS).run(planning, Some(permit)).await;
            }
            Err(error) => refuse(turn, error, sender),
        },
        Err(error) => refuse(turn, error, sender),
    }
}

/// Replays the complete answer of an earlier attempt, in the form that the request asks for.
async fn send_prior_answer(
    turn: &Turn<'_>,
    record: &ResponseRecord,
    permit: TurnPermit,
    sender: AcceptSender,
) {
    let closing = turn.gateway.closing.clone();
    let (mut client, answer) = Client::new(turn.request.stream, closing, permit);
    let replaying = async {
        if let Err(error) = replay(turn, record, &mut client).await {
            turn.publish_refusal(&error);
            client.refuse(error);
        }
    };
    let sending = async { drop(sender.send(receive(answer).await.map(Accepted::Replayed))) };
    tokio::join!(replaying, sending);
}

/// Starts to plan the turn, unless the request is a retry.
async fn start<'a>(
    turn: &'a Turn<'a>,
    queued: &'a Turn<'a>,
    shard: Shard,
) -> Result<JobStart<'a>, ApiError> {
    let registration = Box::new(register_attempt(turn).await?);
    if turn.request.identity.evidence == RetryEvidence::None {
        let (head, planning) = plan_or_queue(queued).await?;
        return Ok(JobStart::New { head, planning, registration });
    }
    if let Some(id) = find_open_job(turn, shard).await? {
        return Ok(JobStart::Open(id));
    }
    let stage = turn.stage(Stage::Open);
    let opened = stage.close(OpenedTurn::open(turn).await)?;
    let cut = match opened.find_prior_attempt().await? {
        PriorAttempt::Complete(record) => return Ok(JobStart::Answered(record)),
        PriorAttempt::Incomplete(cut) => cut,
    };
    let planned = PlannedTurn::plan(opened, &cut).await?;
    planned.check_quotas().await?;
    let head = planned.head();
    Ok(JobStart::New { head, planning: ready(Ok(planned)).boxed(), registration })
}

/// The open response of this request, if it is unambiguous. Without a key, several open responses
/// to equal requests cannot be distinguished.
async fn find_open_job(turn: &Turn<'_>, shard: Shard) -> Result<Option<ResponseId>, ApiError> {
    let (digest, background) =
        (&turn.request.identity.digest, turn.gateway.store.background_jobs());
    let mut open = background.open_jobs(&turn.caller.tenant, shard, digest).await?;
    open.truncate(if turn.is_keyed() { 1 } else { open.len() });
    Ok((open.len() == 1).then(|| open.swap_remove(0)))
}

/// Stores the job with the events of a queued response.
async fn store_job(turn: &Turn<'_>, body: &Bytes) -> Result<(Job, QueuedResponse), ApiError> {
    let Turn { gateway, caller, request, .. } = turn;
    let Announced { id, created_at } = turn.announced();
    let needs_token = turn.upstream()?.receives_tokens() && caller.token.is_some();
    let events = queued_events(turn.announced_envelope(), gateway.settings.event_names);
    let object = Object::parse(&events[0].data).expect("the assembler writes JSON objects");
    let object = object.present("response").unwrap_or_default().to_owned();
    let job = NewJob {
        id: id.clone(),
        request: request.identity.digest,
        work: JobRequest::encode(caller, body, created_at, needs_token)?,
        events: number_events(0, events.into_iter().map(|event| event.data)),
    };
    let entered = gateway.jobs.register(&caller.tenant, &id);
    gateway.store.background_jobs().accept(&caller.tenant, job).await?;
    Ok((entered, QueuedResponse { id, object }))
}

/// The shard of the response.
fn find_shard(turn: &Turn<'_>) -> Result<Shard, ApiError> {
    match &turn.request.continues {
        // Derived, because the job is looked up in this shard, too.
        Continues::Nothing => Ok(turn.request.identity.digest.shard()),
        Continues::Response(text) => {
            let id = ResponseId::parse(text).map(|id| id.shard());
            id.ok_or_else(|| turn.gateway.previous_response_not_found(text))
        }
        Continues::Conversation(text) => {
            let id = ConversationId::parse(text).map(|id| id.shard());
            id.ok_or_else(|| turn.gateway.conversation_not_found(text))
        }
    }
}

/// Logs the rejection and answers the client.
fn refuse(turn: &Turn<'_>, error: ApiError, sender: AcceptSender) {
    turn.publish_refusal(&error);
    drop(sender.send(Err(error)));
}

/// The number of events at the start of a job.
const QUEUED_EVENTS: u64 = 2;

/// The result of starting a request for a background response.
enum JobStart<'a> {
    /// A retry whose response is still open.
    Open(ResponseId),
    /// A retry with this complete answer.
    Answered(Box<ResponseRecord>),
    /// A new turn. It stays registered among those of its request until it has a job.
    New { head: Head, planning: Planning<'a>, registration: Box<RequestRegistration> },
}

/// Waits a moment for the plan. If that is too short, returns the unfinished planning.
async fn plan_or_queue<'a>(turn: &'a Turn<'a>) -> Result<(Head, Planning<'a>), ApiError> {
    let planning = async {
        let planned = open_and_plan(turn).await?;
        planned.check_quotas().await?;
        Ok(planned)
    };
    let mut planning: Planning<'a> = planning.boxed();
    tokio::select! {
        biased;
        planned = &mut planning => {
            let planned = planned?;
            Ok((planned.head(), ready(Ok(planned)).boxed()))
        }
        () = sleep(PLAN_WAIT) => Ok((Head::default(), planning)),
    }
}
