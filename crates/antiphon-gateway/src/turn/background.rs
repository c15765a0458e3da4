//! Accepting a turn in the background: its caller is told of a response that is queued.

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
use super::retry::Made;
use super::{Announced, Answer, Client, Head, Planned, Turn, received, report};
use crate::background::{Job, Work};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::lease::Underway;
use crate::limits::TurnPermit;
use crate::request::{Again, Continues, CreateRequest};

/// How long a turn may take to be planned before its caller is told that it is queued. What is
/// wrong with a request is found out in that time, unless it has to wait for its conversation.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a turn may be queued: then its conversation counts as locked.
const QUEUE: Duration = Duration::from_hours(1);

/// A request for a background response that was accepted.
pub(crate) enum Accepted {
    /// It has a job of its own from now on.
    New(Head, NewResponse),
    /// It was made before, and that response is still open.
    Open(Head, ResponseId),
    /// It was made before, and has its answer.
    Again(Answer),
}

/// A response that is queued.
pub(crate) struct NewResponse {
    pub(crate) id: ResponseId,
    /// The response object.
    pub(crate) object: String,
}

/// A turn that is being planned.
pub(super) type Planning<'a> = BoxFuture<'a, Result<Planned, ApiError>>;

/// Accepts a turn, and works on it in a task of its own. Whatever is wrong before it is accepted
/// leaves everything as it was.
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

type Telling = oneshot::Sender<Result<Accepted, ApiError>>;

impl Turn<'_> {
    async fn accept_and_work(&self, body: &Bytes, permit: TurnPermit, telling: Telling) {
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

    /// Gives a whole answer again, to a caller that gets it as it asked for it.
    async fn accept_again(&self, record: &ResponseRecord, permit: TurnPermit, telling: Telling) {
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

    /// The same turn, which may wait for its conversation for as long as turns are queued.
    pub(super) fn queued(&self) -> Self {
        Self { leases: self.leases.waiting(QUEUE), ..self.clone() }
    }

    /// Begins to plan the turn, unless the request was made before.
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
        let cut = match self.made_before(&opened).await? {
            Made::Whole(record) => return Ok(Beginning::Answered(record)),
            made => made.cut(),
        };
        let planned = self.planned(opened, cut).await?;
        self.check_planned(&planned).await?;
        let head = planned.plan.report.head(&planned.opened.response_id);
        Ok(Beginning::New { head, planning: ready(Ok(planned)).boxed(), underway })
    }

    /// The open response of this request, if there is one that it can be told to be. Without a key,
    /// of several equal ones none tells which it was.
    async fn still_open(&self) -> Result<Option<ResponseId>, ApiError> {
        let (digest, background) = (&self.request.identity.digest, self.gateway.store.background());
        let shard = self.shard_named()?;
        let mut open = background.open_jobs(&self.caller.tenant, shard, digest).await?;
        open.truncate(if self.is_keyed() { 1 } else { open.len() });
        Ok((open.len() == 1).then(|| open.swap_remove(0)))
    }

    /// Has the store keep the job, with the events of a response that is queued.
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

    /// The shard that the response is in.
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

/// Logs why a turn was refused, and answers its caller.
fn refuse(error: ApiError, telling: Telling) {
    report::log_refusal(&error);
    drop(telling.send(Err(error)));
}

/// How many events a job begins with.
const BEGUN: u64 = 2;

/// How a request for a background response begins.
enum Beginning<'t> {
    /// It was made before, and its response is still open.
    Open(ResponseId),
    /// It was made before, and has this answer.
    Answered(Box<ResponseRecord>),
    /// It is a turn of its own, among those of its request until it has a job.
    New { head: Head, planning: Planning<'t>, underway: Box<Underway> },
}

/// The turn as it was planned, or, where that takes longer, as it is being planned.
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
