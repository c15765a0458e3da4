//! Accepts a background turn: the client receives a queued response.

use std::sync::Arc;
use std::time::Duration;

use antiphon::json::Object;
use antiphon::stream::queued;
use antiphon_store::{ConversationId, NewJob, ResponseId, ResponseRecord, Shard};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use tokio::sync::oneshot;
use tokio::time::sleep;
use tracing::Instrument as _;

use super::log::numbered;
use super::retry::PriorAttempt;
use super::{Announced, Answer, Client, Head, Planned, Turn, received, report};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::jobs::{Job, Work};
use crate::lease::Underway;
use crate::limits::TurnPermit;
use crate::request::{Again, Continues, CreateRequest};

/// How long the client waits for the plan before it receives the queued response. An invalid
/// request is found in that time, unless the turn has to wait for its conversation.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a turn may be queued. After that its conversation counts as locked.
const QUEUE: Duration = Duration::from_hours(1);

/// An accepted request for a background response.
pub(crate) enum Accepted {
    /// A new job.
    New(Head, NewResponse),
    /// A retry of a request whose response is still open.
    Open(Head, ResponseId),
    /// A retry of a request that has its answer.
    Again(Answer),
}

/// A queued response.
pub(crate) struct NewResponse {
    pub(crate) id: ResponseId,
    /// The response object.
    pub(crate) object: String,
}

/// A turn that is being planned.
pub(super) type Planning<'a> = BoxFuture<'a, Result<Planned, ApiError>>;

/// Accepts a turn and runs it in its own task. An error before the turn is accepted adds nothing;
/// a retry may have retracted a cut attempt before.
pub(crate) async fn accept(
    gateway: Arc<Gateway>,
    caller: Caller,
    request: CreateRequest,
    body: Bytes,
    permit: TurnPermit,
) -> Result<Accepted, ApiError> {
    let (telling, told) = oneshot::channel();
    let turns = gateway.turns.clone();
    let accepting = async move {
        let turn = Turn::of(&gateway, &caller, &request);
        turn.record_in_span();
        match turn.shard_named() {
            Ok(shard) => {
                let turn = Turn { announced: Some(Announced::now(shard)), ..turn };
                turn.accept_and_work(&body, permit, telling).await;
            }
            Err(error) => refuse(error, telling),
        }
    };
    turns.spawn(accepting.in_current_span());
    received(told).await
}

type AcceptSender = oneshot::Sender<Result<Accepted, ApiError>>;

impl Turn<'_> {
    async fn accept_and_work(&self, body: &Bytes, permit: TurnPermit, telling: AcceptSender) {
        let queued = self.queued();
        match self.known_or_planned(&queued).await {
            Ok(Beginning::Open(id)) => {
                let open = Accepted::Open(report::head_again(&id), id);
                drop(telling.send(Ok(open)));
            }
            Ok(Beginning::Answered(record)) => self.accept_again(&record, permit, telling).await,
            Ok(Beginning::New { head, planning, underway }) => match self.take_on(body).await {
                Ok((job, response)) => {
                    drop(telling.send(Ok(Accepted::New(head, response))));
                    drop(underway);
                    queued.work(job, planning, BEGUN, Some(permit)).await;
                }
                Err(error) => refuse(error, telling),
            },
            Err(error) => refuse(error, telling),
        }
    }

    /// Replays a complete answer, in the form that the request asks for.
    async fn accept_again(
        &self,
        record: &ResponseRecord,
        permit: TurnPermit,
        telling: AcceptSender,
    ) {
        let closing = self.gateway.closing.clone();
        let (mut client, answer) = Client::new(self.request.stream, closing, permit);
        let answering = async {
            if let Err(error) = self.answer_again(record, &mut client).await {
                client.refuse(error);
            }
        };
        let telling = async { drop(telling.send(received(answer).await.map(Accepted::Again))) };
        tokio::join!(answering, telling);
    }

    /// Lets the turn wait for its conversation as long as turns may be queued.
    pub(super) fn queued(&self) -> Self {
        Self { leases: self.leases.waiting(QUEUE), ..self.clone() }
    }

    /// Starts to plan the turn, unless the request is a retry.
    async fn known_or_planned<'t>(&self, queued: &'t Turn<'_>) -> Result<Beginning<'t>, ApiError> {
        let underway = Box::new(self.enter().await?);
        if self.request.identity.again == Again::No {
            let (head, planning) = planned_or_queued(queued).await?;
            return Ok(Beginning::New { head, planning, underway });
        }
        if let Some(id) = self.still_open().await? {
            return Ok(Beginning::Open(id));
        }
        let opened = self.open().await?;
        let cut = match self.find_prior_attempt(&opened).await? {
            PriorAttempt::Whole(record) => return Ok(Beginning::Answered(record)),
            made => made.cut(),
        };
        let planned = self.planned(opened, cut).await?;
        self.check_planned(&planned).await?;
        let head = planned.plan.report.head(&planned.opened.response_id);
        Ok(Beginning::New { head, planning: ready(Ok(planned)).boxed(), underway })
    }

    /// The open response of this request, if it is unambiguous. Without a key, several open
    /// responses to equal requests cannot be distinguished.
    async fn still_open(&self) -> Result<Option<ResponseId>, ApiError> {
        let (digest, background) = (&self.request.identity.digest, self.gateway.store.background());
        let shard = self.shard_named()?;
        let mut open = background.open_jobs(&self.caller.tenant, shard, digest).await?;
        open.truncate(if self.is_keyed() { 1 } else { open.len() });
        Ok((open.len() == 1).then(|| open.swap_remove(0)))
    }

    /// Stores the job with the events of a queued response.
    async fn take_on(&self, body: &Bytes) -> Result<(Job, NewResponse), ApiError> {
        let Announced { id, created_at } =
            self.announced.clone().expect("a turn in the background is announced first");
        let tenant = &self.caller.tenant;
        let takes_tokens = self.gateway.upstream_of(&self.request.model)?.takes_tokens();
        let needs_token = takes_tokens && self.caller.token.is_some();
        let events = queued(self.envelope_announced(), self.gateway.settings.event_names);
        let object = Object::parse(&events[0].data).expect("it was made so");
        let object = object.present("response").unwrap_or_default().to_owned();
        let job = NewJob {
            id: id.clone(),
            request: self.request.identity.digest,
            work: Work::of(self.caller, body, created_at, needs_token)?,
            events: numbered(0, events.into_iter().map(|event| event.data)),
        };
        let entered = self.gateway.jobs.enter(tenant, &id);
        self.gateway.store.background().accept(tenant, job).await?;
        Ok((entered, NewResponse { id, object }))
    }

    /// The shard of the response.
    fn shard_named(&self) -> Result<Shard, ApiError> {
        match &self.request.continues {
            Continues::Nothing => Ok(self.shard_of_request()),
            Continues::Response(text) => {
                let id = ResponseId::parse(text).map(|id| id.shard());
                id.ok_or_else(|| self.gateway.previous_response_not_found(text))
            }
            Continues::Conversation(text) => {
                let id = ConversationId::parse(text).map(|id| id.shard());
                id.ok_or_else(|| self.gateway.conversation_not_found(text))
            }
        }
    }
}

/// Logs the rejection and answers the client.
fn refuse(error: ApiError, telling: AcceptSender) {
    report::log_refusal(&error);
    drop(telling.send(Err(error)));
}

/// The number of events at the start of a job.
const BEGUN: u64 = 2;

/// The start of a request for a background response.
enum Beginning<'t> {
    /// A retry whose response is still open.
    Open(ResponseId),
    /// A retry with this complete answer.
    Answered(Box<ResponseRecord>),
    /// A new turn. It stays registered among those of its request until it has a job.
    New { head: Head, planning: Planning<'t>, underway: Box<Underway> },
}

/// Waits a moment for the plan. If that is too short, returns the unfinished planning.
async fn planned_or_queued<'t>(turn: &'t Turn<'_>) -> Result<(Head, Planning<'t>), ApiError> {
    let mut planning: Planning<'t> = turn.opened_and_checked().boxed();
    tokio::select! {
        biased;
        planned = &mut planning => {
            let planned = planned?;
            let head = planned.plan.report.head(&planned.opened.response_id);
            Ok((head, ready(Ok(planned)).boxed()))
        }
        () = sleep(PATIENCE) => Ok((Head::default(), planning)),
    }
}
