//! One turn: from a request to a committed answer.
//!
//! [`answer`] runs a turn in its own task, so that the turn ends in order even if its client
//! disconnects. [`Turn::run`] is the whole turn; start reading there. Each stage is a type that
//! consumes the one before:
//!
//! 1. [`Turn`] (`context`): a request that was read. `state_owner` decides who stores the
//!    conversation. If that is the upstream, the turn leaves this list and runs as
//!    [`UpstreamTurn::take`](upstream_state::UpstreamTurn::take). `prior_attempt` registers the
//!    turn among those of the same request. Attempts that still run end first.
//! 2. [`OpenedTurn`] (`open`): it has the conversation's lease, if it has a conversation, the end
//!    of the transcript and a response id. If the client sent the request before, the complete
//!    answer is replayed (`replay`), or the cut one is retracted ([`PriorAttempt`]).
//! 3. [`PlannedTurn`] (`plan`): the transcript is loaded, references are replaced with stored
//!    items (`resolve`), resent items are dropped (`admission`), the rest is repaired (`view`) and
//!    the prompt is built (`encode`).
//! 4. [`SendingTurn`] (`sending`): shortens the prompt if needed (`compact`, `window`) and sends it
//!    (`send`). At the same time `pending` records the turn as it will be stored if this process
//!    dies.
//! 5. [`StreamingTurn`] (`streaming`): decodes the upstream's stream (`reader`) and passes events
//!    to the [`Client`]. An answer that fails before its first output is requested again.
//! 6. `EndedTurn` and `CommittedTurn` (`commit`): the turn is stored. The client receives the
//!    terminal event only after that.
//!
//! A turn that ends before its answer begins ends with a [`TurnError`]. The modules use each other
//! in one direction: a later stage uses the earlier ones.
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
mod cancel;
mod channel;
mod client;
mod clock;
mod commit;
mod commit_retry;
mod compact;
mod compact_route;
mod context;
mod detached;
mod encode;
mod fallback_prompt;
mod finished;
mod hot;
mod job;
mod lane;
mod log;
mod open;
mod pending;
mod plan;
mod preview;
mod prior_attempt;
mod reader;
mod refusal;
mod replay;
mod report;
mod resolve;
mod resume;
mod send;
mod sending;
mod sent_view;
mod shared_text;
mod start;
mod state_owner;
mod streaming;
mod summary;
mod trigger;
mod upstream_state;
mod view;
mod window;

use std::sync::Arc;

use tracing::Instrument as _;

pub(crate) use self::background::{Accepted, accept};
use self::cancel::TurnError;
pub(crate) use self::channel::OutgoingEvent;
pub(crate) use self::client::{Answer, Client, Head};
use self::commit::EndedTurn;
pub(crate) use self::compact_route::compact_history;
use self::context::Turn;
pub(crate) use self::encode::{encode_for_api, without_rejected_status};
use self::finished::{FinishedTurn, TurnEnd};
use self::open::OpenedTurn;
use self::plan::PlannedTurn;
pub(crate) use self::preview::{Preview, TokenCount};
use self::prior_attempt::{PriorAttempt, register_attempt};
use self::replay::replay;

pub(crate) use self::report::{
    ResentPlace, ResentRun, input_stored_by, link_faults, name_resent_items, resent_runs,
};
pub(crate) use self::resolve::{Incoming, resolve};
pub(crate) use self::resume::resume;
use self::sending::SendingTurn;
pub(crate) use self::sent_view::{ChangedItem, SentItems, SentView, public_report};
use self::state_owner::{StateOwner, bind_state_owner, find_state_owner, run_at_upstream};
use self::streaming::StreamingTurn;
use crate::caller::Caller;
use crate::changes::ChangeKind;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::lease::RequestRegistration;
use crate::limits::TurnPermit;
use crate::metrics::Counted;
use crate::request::{Continues, CreateRequest, RequestMode};
use crate::span::Stage;
use crate::upstream::Reply;

/// Runs a turn in its own task, so that it ends in order even if its client disconnects.
pub(crate) async fn answer(
    gateway: Arc<Gateway>,
    caller: Caller,
    request: CreateRequest,
    permit: TurnPermit,
) -> Result<Answer, ApiError> {
    let (mut client, answer) = Client::new(request.stream, gateway.closing.clone(), permit);
    let turns = gateway.turns.clone();
    let turn = async move {
        let turn = Turn::new(&gateway, &caller, &request);
        let _open = OpenTurn::new(&turn);
        turn.record_in_span();
        turn.run_or_refuse(&mut client).await;
        drop(client);
    };
    // On the heap, because a task copies its future several times.
    turns.spawn(Box::pin(turn).in_current_span());
    client::receive(answer).await
}

/// Makes a request that could not be read known to the operator.
pub(crate) fn publish_unreadable(gateway: &Gateway, caller: &Caller, error: &ApiError) {
    FinishedTurn::unreadable(gateway, caller, error).publish();
}

/// Whether the turn belongs to an upstream that owns the state of its conversation.
pub(crate) async fn is_owned_by_upstream(
    gateway: &Gateway,
    caller: &Caller,
    request: &CreateRequest,
) -> Result<bool, ApiError> {
    let turn = Turn::new(gateway, caller, request);
    let owner = find_state_owner(&turn, turn.upstream()?).await?;
    Ok(!matches!(owner, StateOwner::Here))
}

impl Turn<'_> {
    /// Runs the turn and reports an error before its answer begins to the client.
    async fn run_or_refuse(&self, client: &mut Client) {
        match self.run(client).await {
            Ok(()) => {}
            Err(TurnError::Failed(error)) => {
                self.publish_refusal(&error);
                lane::forget_previous(self);
                client.refuse(error);
            }
            Err(TurnError::Cancelled(_)) => self.finished(TurnEnd::Disconnected).publish(),
        }
    }

    /// Runs the turn from start to end. A turn that fails before its answer begins adds nothing.
    ///
    /// The stages before the answer, the answer, and those after it are separate futures on the
    /// heap: a turn that waits for its model occupies only the memory of the answer.
    async fn run(&self, client: &mut Client) -> Result<(), TurnError> {
        let Some((begun, _underway)) = Box::pin(self.begin(client)).await? else { return Ok(()) };
        let ended = match begun {
            BegunTurn::Ended(ended) => ended,
            BegunTurn::Streaming(streaming, reply) => {
                Box::pin(streaming.relay(reply, client)).await
            }
        };
        Box::pin(end(ended, client)).await;
        Ok(())
    }

    /// Runs the stages before the answer. Returns `None` if the turn has ended: its upstream owns
    /// the state, or it had a complete answer.
    async fn begin(
        &self,
        client: &mut Client,
    ) -> Result<Option<(BegunTurn<'_>, RequestRegistration)>, TurnError> {
        let Some((planned, underway)) = self.plan(client).await? else { return Ok(None) };
        let begun = match self.request.mode {
            RequestMode::Preparation => {
                BegunTurn::Ended(Box::pin(planned.answer_without_model(client)).await)
            }
            RequestMode::Answer => {
                let mut sending = SendingTurn::new(planned);
                let stage = self.stage(Stage::Send);
                let reply = stage.close(sending.send(client).await)?;
                client.begin_answer(sending.head());
                let reader = sending.reader();
                BegunTurn::Streaming(Box::new(StreamingTurn::new(sending, reader)), reply)
            }
        };
        Ok(Some((begun, underway)))
    }

    /// Runs the stages before the prompt is sent. Returns `None` as [`begin`](Self::begin) does.
    async fn plan(
        &self,
        client: &mut Client,
    ) -> Result<Option<(PlannedTurn<'_>, RequestRegistration)>, TurnError> {
        let upstream = self.upstream()?;
        if let StateOwner::Upstream(http, mapping) = bind_state_owner(self, upstream).await? {
            Box::pin(run_at_upstream(self, http, mapping, client)).await?;
            return Ok(None);
        }
        self.gateway.owners(self.caller).check_stateless(upstream, self.request).await?;
        let underway = register_attempt(self).await?;
        let stage = self.stage(Stage::Open);
        let opened = stage.close(OpenedTurn::open(self).await)?;
        let cut = match opened.find_prior_attempt().await? {
            PriorAttempt::Complete(record) => {
                Box::pin(replay(self, &record, client)).await?;
                return Ok(None);
            }
            PriorAttempt::Incomplete(cut) => cut,
        };
        self.check_store().await?;
        let planned = PlannedTurn::plan(opened, &cut).await?;
        planned.check_quotas().await?;
        Ok(Some((planned, underway)))
    }
}

/// Counts a turn as open until it is dropped. A turn that panics ends there.
struct OpenTurn<'a> {
    turn: &'a Turn<'a>,
    _counted: Counted,
}

impl<'a> OpenTurn<'a> {
    fn new(turn: &'a Turn<'a>) -> Self {
        let open = Self { turn, _counted: turn.gateway.metrics.open.turns.count() };
        open.notify(ChangeKind::Began);
        open
    }

    /// Announces a change to the pages that follow the conversation.
    fn notify(&self, kind: ChangeKind) {
        let Turn { gateway, caller, request, conversation, .. } = self.turn;
        let previous = match &request.continues {
            Continues::Response(id) => Some(&**id),
            Continues::Nothing | Continues::Conversation(_) => None,
        };
        gateway.changes.notify(&caller.tenant, kind, *conversation, previous);
    }
}

impl Drop for OpenTurn<'_> {
    fn drop(&mut self) {
        self.notify(ChangeKind::Ended);
        if std::thread::panicking() {
            self.turn.finished(TurnEnd::Refused(&ApiError::Panicked)).publish();
        }
    }
}

/// A turn whose answer begins.
enum BegunTurn<'a> {
    /// The answer, in the form in which the upstream sends it.
    Streaming(Box<StreamingTurn<'a>>, Reply),
    /// The turn has no model, so its answer is complete.
    Ended(EndedTurn<'a>),
}

/// Commits the turn, and then sends the end of its answer.
async fn end(turn: EndedTurn<'_>, client: &mut Client) {
    if let Some(committed) = turn.commit().await {
        committed.send_end(client).await;
    }
}
