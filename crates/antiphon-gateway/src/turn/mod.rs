//! One turn: from a request to a committed answer.
//!
//! [`answer`] runs a turn in its own task, so that the turn ends in order even if its client
//! disconnects. [`Turn::take`] is the whole turn; start reading there. Its stages, each in the
//! module of that name:
//!
//! 1. `state_owner`: decides who stores the conversation. If that is the upstream, the turn leaves
//!    this list and runs as [`UpstreamTurn::take`](upstream_state::UpstreamTurn::take).
//! 2. `retry`: registers the turn among those of the same request. Attempts that still run end
//!    first.
//! 3. `open`: acquires the conversation's lease, if the turn has a conversation, finds the end of
//!    the transcript and issues the response id. The result is [`Opened`].
//! 4. `retry` again: if the client sent the request before, replays the complete answer or retracts
//!    the cut one ([`PriorAttempt`]).
//! 5. `plan`: loads the transcript, replaces references with stored items (`resolve`), drops resent
//!    items (`admission`), repairs the rest (`view`) and builds the prompt. The result is [`Plan`].
//!    `quota` then checks the new items.
//! 6. `compact`, `window`, `send`: shorten the prompt if needed and send it. At the same time
//!    `commit` records the opening, which is the turn as it will be stored if this process dies.
//! 7. `relay`: decodes the upstream's stream ([`ResponseReader`]) and passes events to the [`Client`]. An
//!    answer that fails before its first output is requested again.
//! 8. `commit`: stores the turn. The client receives the terminal event only after that.
//!
//! # Guarantees
//! - A turn that fails before its answer begins adds nothing. Two earlier steps stay: a retry may
//!   have retracted a cut attempt, and a pending conversation may have been bound to its owner.
//! - A client that saw the end of a stored response can continue that response.
//! - A retry never adds a second turn if the gateway recognizes it: by its key or, if the client
//!   marks it as a retry, by its body.
//!
//! # Other entry points
//! - [`accept`]: a background turn. `job` runs it and `log` stores its events. The `resume` module
//!   takes over a job after its process died.
//! - [`Preview`]: the prompt of a request without a turn, for token counts and for the compaction
//!   route.

mod admission;
mod background;
mod channel;
mod client;
mod commit;
mod commit_retry;
mod compact;
mod compacted;
mod counting;
mod detached;
mod encode;
mod error;
mod fallback_prompt;
mod job;
mod lane;
mod log;
mod open;
mod plan;
mod preview;
mod prewarm;
mod quota;
mod relay;
mod report;
mod resolve;
mod resume;
mod retry;
mod send;
mod shared_text;
mod start;
mod state_owner;
mod strip_reasoning;
mod summary;
mod upstream_state;
mod view;
mod window;

use std::pin::{Pin, pin};
use std::sync::Arc;

use antiphon::dialect::{RequestContext, UpstreamApi};
use antiphon::json::Object;
use antiphon::stream::{Assembler, Envelope, Finished, Permission, Status, UsedIds};
use antiphon_store::ResponseId;
use futures_util::future::{MaybeDone, maybe_done};
use tokio::sync::oneshot;
use tracing::Instrument as _;

pub(crate) use self::background::{Accepted, accept};
pub(crate) use self::channel::{EventReceiver, OutgoingEvent};
pub(crate) use self::client::{Answer, Client, Head};
pub(crate) use self::compacted::compacted;
pub(crate) use self::counting::TokenCount;
use self::error::{CancelReason, TurnError};
use self::open::Opened;
use self::plan::Plan;
pub(crate) use self::preview::Preview;
use self::relay::{Outcome, ResponseReader};
pub(crate) use self::report::{input_stored_by, log_unreadable};
pub(crate) use self::resolve::{Incoming, resolve};
pub(crate) use self::resume::resume;
use self::retry::{CutAttempts, PriorAttempt};
use self::send::Sent;
use self::shared_text::SharedEnd;
use self::state_owner::StateOwner;
use crate::caller::Caller;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::lease::Leases;
use crate::limits::TurnPermit;
use crate::request::{CreateRequest, RequestMode};
use crate::settings::OnDisconnect;
use crate::trace;
use crate::upstream::{Reply, RetrySession, Upstream, UpstreamError};

/// Runs a turn in its own task, so that it ends in order even if its client disconnects.
pub(crate) async fn answer(
    gateway: Arc<Gateway>,
    caller: Caller,
    request: CreateRequest,
    permit: TurnPermit,
) -> Result<Answer, ApiError> {
    let (client, answer) = Client::new(request.stream, gateway.closing.clone(), permit);
    let turns = gateway.turns.clone();
    let turn = async move {
        let turn = Turn::of(&gateway, &caller, &request);
        turn.record_in_span();
        turn.run(client).await;
    };
    turns.spawn(turn.in_current_span());
    received(answer).await
}

/// Whether the turn belongs to an upstream that owns the state of its conversation.
pub(crate) async fn is_kept_upstream(
    gateway: &Gateway,
    caller: &Caller,
    request: &CreateRequest,
) -> Result<bool, ApiError> {
    let upstream = gateway.upstream_of(&request.model)?;
    let turn = Turn::of(gateway, caller, request);
    let owner = turn.state_owner(upstream).await?;
    Ok(!matches!(owner, StateOwner::Here))
}

async fn received<T>(answer: oneshot::Receiver<Result<T, ApiError>>) -> Result<T, ApiError> {
    answer.await.unwrap_or(Err(ApiError::Panicked))
}

/// One turn of one caller.
#[derive(Clone)]
struct Turn<'a> {
    gateway: &'a Gateway,
    caller: &'a Caller,
    request: &'a CreateRequest,
    /// The leases, with the time that this turn may wait for others.
    leases: Leases,
    /// The identity of the response, if the client learns it before the turn opens.
    announced: Option<Announced>,
}

/// A response's identity.
#[derive(Clone, Debug)]
struct Announced {
    id: ResponseId,
    /// Unix seconds.
    created_at: i64,
}

/// An open turn and its plan.
struct Planned {
    opened: Opened,
    plan: Plan,
}

impl<'a> Turn<'a> {
    fn of(gateway: &'a Gateway, caller: &'a Caller, request: &'a CreateRequest) -> Self {
        Self { gateway, caller, request, leases: gateway.leases.clone(), announced: None }
    }
}

impl Turn<'_> {
    /// Records the model, the upstream and the conversation in the span of the turn's log lines.
    fn record_in_span(&self) {
        let upstream = self.gateway.upstreams.of_model(&self.request.model);
        trace::record_turn(self.request, upstream.map(Upstream::label));
    }

    /// Runs the turn and reports an error before its answer begins to the client.
    async fn run(&self, mut client: Client) {
        if let Err(TurnError::Failed(error)) = self.take(&mut client).await {
            report::log_refusal(&error);
            self.forget();
            client.refuse(error);
        }
    }

    /// Runs the turn from start to end. A turn that fails before its answer begins adds nothing.
    async fn take(&self, client: &mut Client) -> Result<(), TurnError> {
        let upstream = self.gateway.upstream_of(&self.request.model)?;
        if let StateOwner::Upstream(http, alias) = self.bound_state_owner(upstream).await? {
            return Ok(Box::pin(self.take_upstream(http, alias, client)).await?);
        }
        self.gateway.check_stateless(self.caller, upstream, self.request).await?;
        let _underway = self.enter().await?;
        let opened = self.open().await?;
        let made = self.find_prior_attempt(&opened).await?;
        if let PriorAttempt::Whole(record) = &made {
            return Ok(self.answer_again(record, client).await?);
        }
        self.check_store().await?;
        let planned = self.planned(opened, made.cut()).await?;
        self.check_planned(&planned).await?;
        let Planned { opened, mut plan } = planned;
        if self.request.wants == RequestMode::Preparation {
            return Ok(self.warm_up(opened, plan, client).await?);
        }
        let mut asking = RetrySession::of(upstream, &self.request.model);
        let _guard = self.guard_opening(&opened);
        let reply = self.ask_of_compacted(&opened, &mut plan, &mut asking, client).await?;
        client.begin(plan.report.head(&opened.response_id));
        let hearing = self.hearing(&opened, &plan, upstream);
        let outcome = self.relay(reply, hearing, &opened, &mut plan, &mut asking, client).await;
        plan.report.retried(asking.retries());
        Ok(self.conclude(opened, plan, outcome, client).await?)
    }

    /// Fails if the turn needs the store and the store accepts no writes. The model is not asked
    /// then.
    async fn check_store(&self) -> Result<(), ApiError> {
        match self.stores_items() {
            true => self.gateway.check_store().await,
            false => Ok(()),
        }
    }

    /// Loads the transcript, finds the new items of the input and builds the prompt. `cut` holds
    /// the attempts at the same request that were cut short.
    async fn planned(&self, opened: Opened, cut: CutAttempts) -> Result<Planned, ApiError> {
        let upstream = self.gateway.upstream_of(&self.request.model)?;
        let held = self.held(&opened).await?;
        let input = self.resolve(&held, self.request.input.clone()).await?;
        let mut plan = self.plan_after(held, input, cut.prior.as_ref(), upstream)?;
        plan.follows(&cut);
        Ok(Planned { opened, plan })
    }

    /// Records the opening and sends the request, at the same time.
    async fn ask(
        &self,
        opened: &Opened,
        plan: &mut Plan,
        asking: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Reply, TurnError> {
        let sent = self.record_and_send(opened, plan, asking, client).await;
        if sent.is_err() {
            self.drop_opening(opened).await;
        }
        Ok(sent?.told_in(plan))
    }

    /// Runs both operations. If the request fails, the opening may be recorded nevertheless. If the
    /// recording fails, the answer is not awaited.
    async fn record_and_send(
        &self,
        opened: &Opened,
        plan: &Plan,
        asking: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Sent, TurnError> {
        let mut recording = pin!(maybe_done(self.record_opening(opened, plan)));
        let both = async {
            tokio::select! {
                biased;
                () = until_failed(recording.as_mut()) => Ok(None),
                sent = self.send(plan, asking) => sent.map(Some),
            }
        };
        let sent = self.while_wanted(both, opened, client).await;
        // The store completes a write that has begun, so the opening can be dropped only after
        // that.
        recording.as_mut().await;
        let recorded = recording.as_mut().take_output().expect("it was waited for");
        recorded?;
        Ok(sent?.expect("the opening is recorded"))
    }

    /// Awaits `sent` while somebody waits for the answer. The turn is cancelled when nobody does.
    async fn while_wanted<T>(
        &self,
        sent: impl Future<Output = Result<T, UpstreamError>>,
        opened: &Opened,
        client: &mut Client,
    ) -> Result<T, TurnError> {
        tokio::select! {
            sent = sent => Ok(sent?),
            reason = self.left(client) => Err(TurnError::Cancelled(reason)),
            () = opened.conversation_deleted() => Err(ApiError::ConversationDeleted.into()),
        }
    }

    /// Waits until the turn must end early: the gateway is closing, or the client has disconnected
    /// under [`OnDisconnect::Settle`]. A background turn ends early if it is cancelled
    /// or if its log has failed.
    async fn left(&self, client: &mut Client) -> CancelReason {
        let settles = self.gateway.settings.on_disconnect == OnDisconnect::Settle;
        tokio::select! {
            unwanted = client.unwanted(), if settles || self.request.background => unwanted,
            () = self.gateway.closing.cancelled() => CancelReason::Left,
        }
    }

    fn hearing(&self, opened: &Opened, plan: &Plan, upstream: Upstream<'_>) -> ResponseReader {
        let fields = self.request.object();
        let taken = UsedIds::from_transcript(&plan.transcript);
        let assembler = self.assembler(envelope(opened, &fields), taken);
        let assembler = assembler.with_permission(Permission::from_request(&fields));
        let assembler = assembler.with_preface(plan.preface.clone().unwrap_or_default());
        let asked = RequestContext::from_request(&fields, plan.origin.clone());
        let api = if self.is_answered_by_compaction(plan) {
            UpstreamApi::Responses
        } else {
            upstream.api()
        };
        let hearing = ResponseReader::new(api, asked, assembler).bounded(upstream.max_event());
        hearing.sealing(self.sealing(&plan.origin, upstream))
    }

    fn assembler(&self, envelope: Envelope, taken: UsedIds) -> Assembler {
        let assembler =
            Assembler::new(envelope, taken, Box::new(RandomIds), self.request.encrypted);
        let assembler = assembler.with_form(self.gateway.settings.event_names);
        assembler.with_obfuscation(self.request.obfuscation())
    }

    /// Commits the result of the turn and then sends its end to the client.
    async fn conclude(
        &self,
        opened: Opened,
        plan: Plan,
        outcome: Outcome,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        let is_deleted = matches!(outcome, Outcome::ConversationDeleted(_));
        let mut finished = match outcome {
            // The client saw nothing of the response and cannot continue it, so there was no turn.
            Outcome::Left(_) if !self.request.stream => return Ok(()),
            outcome => outcome.finished(),
        };
        self.learn_of_compaction(&plan, &finished);
        let end = SharedEnd::take(&mut finished);
        let report = plan.report.with_notes(&finished.notes);
        let committed = match is_deleted {
            true => Err(ApiError::ConversationDeleted),
            false => self.commit(&opened, plan.fresh, &report, &finished, &plan.origin).await,
        };
        if committed.is_ok() {
            self.remember(&opened, plan.transcript, &finished, &plan.origin);
        } else {
            self.drop_opening(&opened).await;
            self.forget();
        }
        let is_stored = self.stores_response(&finished) && committed.is_ok();
        let response = is_stored.then(|| opened.response_id.as_str());
        report.log(self.request, response, &finished, committed.as_ref().err());
        opened.close().await;
        self.tell_end(finished, end, committed, client).await
    }

    async fn tell_end(
        &self,
        mut finished: Finished,
        end: SharedEnd,
        committed: Result<(), ApiError>,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        let error = match committed {
            Ok(()) if finished.status == Status::Cancelled => ApiError::Stopped,
            Ok(()) => {
                let (status, failure) = (finished.status, finished.failure.take());
                // The output is committed. While the client reads, only the terminal event stays in
                // memory.
                drop(finished);
                client.end_shared(status, failure, end).await;
                return Ok(());
            }
            Err(error) => error,
        };
        end.put_back(&mut finished);
        client.break_off(&finished, error).await;
        Ok(())
    }
}

/// Waits until the recording fails; waits forever after a successful one.
async fn until_failed<T>(
    mut recording: Pin<&mut MaybeDone<impl Future<Output = Result<T, ApiError>>>>,
) {
    recording.as_mut().await;
    if let Some(Ok(_)) = recording.as_mut().output_mut() {
        std::future::pending::<()>().await;
    }
}

fn envelope(opened: &Opened, fields: &Object<'_>) -> Envelope {
    let conversation = opened.conversation.as_ref().map(antiphon_store::ConversationId::as_str);
    Envelope::new(opened.response_id.as_str(), opened.created_at, fields, conversation)
}
