//! A turn whose conversation is stored by its upstream.
//!
//! The upstream stores conversations, responses and items under its own ids, and clients see only
//! those. The one exception is a conversation that clients know by an [`Alias`].
//!
//! The gateway keeps a *ledger*: a conversation in its own store that mirrors the upstream's, under
//! local ids that no client sees. The ledger holds item heads and fingerprints, and bodies if
//! [`Ledger::Bodies`](crate::settings::Ledger::Bodies) is set. That is enough to send only new
//! items and to repair an input that the upstream would reject.
//!
//! [`UpstreamTurn::take`] is the whole turn; start reading there. Its stages:
//!
//! 1. `open`: finds or creates the ledger and acquires the lease of a conversation. A stale ledger
//!    is first resynced with the upstream (`resync`). If the upstream has lost the response,
//!    `replay` continues from the ledger alone.
//! 2. `prior_attempt`: if the client sent the request before, replays the upstream's complete
//!    answer, or finds the input items that an earlier attempt left there.
//! 3. `plan`: reconciles the input with the ledger and repairs the rest. `prepare` deletes stored
//!    items that block every further turn. In a chain of responses nothing can be deleted; there it
//!    makes a detour: the turn continues the response before them.
//! 4. `attempt`: marks the ledger stale, sends the request (`send`) and retries. A state error
//!    leads to one resync, a new plan and a second attempt. A locked conversation is retried until
//!    the turn's wait ends. [`Course`](antiphon::stateful::Course) decides this. A client without a
//!    gateway uses the same state machine.
//! 5. `relay`: decodes the answer. The client receives nothing before the response's id is in the
//!    ledger. `queued` handles a response in the upstream's own background.
//! 6. `commit`: stores the turn in the ledger, and marks the ledger fresh if the turn ended well.
//!    The client receives the terminal event only after that.
//!
//! # Stale ledgers
//! The ledger of a conversation is stale from the moment before a request is sent until a commit,
//! or a rejection that surely changed nothing, makes it fresh. If the process dies in between, the
//! next turn resyncs it.

mod attempt;
mod commit;
mod open;
mod plan;
mod prepare;
mod prior_attempt;
mod queued;
mod relay;
mod replay;
mod resync;
mod send;

use antiphon::dialect::{RequestContext, UpstreamApi};
use antiphon::json::Object;
use antiphon::stream::{Assembler, Envelope, UsedIds};
use antiphon::{Item, Origin};
use antiphon_store::Ledgers;
use tokio::time::Instant;

use self::attempt::Answer;
use self::plan::{Plan, PlanInputs};
use self::prepare::{Planned, Progress};
use super::cancel::TurnError;
use super::client::Client;
use super::context::Turn;
use super::open::Opened;
use super::pending::PendingTurn;
use super::prior_attempt::register_attempt;
use super::reader::ResponseReader;
use crate::alias::Alias;
use crate::bound::from_now;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::owner::describe;
use crate::request::{Continues, RequestMode};
use crate::upstream::{HttpUpstream, RetrySession, Upstream};

/// A turn of a conversation or of a response chain that its upstream owns.
pub(super) struct UpstreamTurn<'a> {
    turn: &'a Turn<'a>,
    http: &'a HttpUpstream,
    /// The two ids of the conversation, if callers know another one than the upstream.
    alias: Option<&'a Alias>,
    /// The time at which the turn stops waiting for other turns of the conversation.
    waits_until: Instant,
}

impl<'a> UpstreamTurn<'a> {
    /// A turn whose state is owned by this upstream.
    pub(super) fn new(turn: &'a Turn<'a>, http: &'a HttpUpstream) -> Self {
        let waits_until = from_now(turn.gateway.settings.turn_wait);
        Self { turn, http, alias: None, waits_until }
    }

    /// Sets the ids of a conversation that callers know by another id than the upstream.
    pub(super) fn known_as(self, alias: &'a Alias) -> Self {
        Self { alias: Some(alias), ..self }
    }

    /// Runs the turn from start to end. A rejected request leaves the upstream's state unchanged,
    /// except for blocking items that were deleted before (`prepare`). If the upstream may have
    /// started the turn, the ledger stays stale and the next turn resyncs it.
    pub(super) async fn take(&self, client: &mut Client) -> Result<(), ApiError> {
        self.check_request().await?;
        let _underway = register_attempt(self.turn).await?;
        let (opened, inputs) = self.open_or_replay().await?;
        let prior = self.find_prior_attempt(&opened).await?;
        let Some(stored) = self.replay_prior(prior, client).await? else { return Ok(()) };
        let mut progress = Progress::default();
        let inputs = PlanInputs { stored, ..inputs };
        let planned = self.prepare(&mut progress, opened, inputs).await?;
        let Planned { opened, plan, .. } = &planned;
        let (held, _) = plan.transcript.items().split_at(plan.held);
        opened.check_quotas(self.turn, held, &plan.fresh).await?;
        let mut session = RetrySession::new(Upstream::Http(self.http), &self.turn.request.model);
        let answered = match self.answer(&mut progress, planned, &mut session, client).await {
            Ok(answered) => answered,
            Err(TurnError::Failed(error)) => return Err(error),
            Err(TurnError::Cancelled(_)) => return Ok(()),
        };
        let Some((Planned { opened, plan, .. }, answer)) = answered else { return Ok(()) };
        let _guard = PendingTurn::new(self.turn, &opened);
        let plan = plan.retried(session.retries());
        match answer {
            Answer::Relayed(answered) => self.conclude(opened, plan, *answered, client).await,
            Answer::Queued(queued) => self.conclude_queued(opened, plan, queued, client).await,
        }
    }

    /// Rejects a request that cannot become a turn, before anything changes.
    pub(super) async fn check_request(&self) -> Result<(), ApiError> {
        self.check()?;
        let turn = self.turn;
        turn.check_store().await?;
        turn.gateway.check_turn(turn.caller, self.http, turn.request).await
    }

    /// Rejects requests for features that exist only if the gateway owns the state.
    fn check(&self) -> Result<(), ApiError> {
        match self.turn.request.wants {
            RequestMode::Answer => Ok(()),
            RequestMode::Preparation => {
                Err(ApiError::PreparationAtUpstream { keeper: describe(self.http) })
            }
        }
    }

    /// The reader of the answer to this plan.
    fn reader(&self, opened: &Opened, plan: &Plan) -> ResponseReader {
        let (id, created_at) = (opened.response_id.as_str(), opened.created_at);
        let used = UsedIds::item_ids_only(&plan.transcript);
        self.reader_of(id, created_at, used).with_max_size(Upstream::Http(self.http).max_event())
    }

    /// The reader of a response with this id. The upstream's encrypted content belongs to the
    /// caller, so it passes unchanged.
    fn reader_of(&self, id: &str, created_at: i64, used: UsedIds) -> ResponseReader {
        let fields = self.turn.request.object();
        let envelope = self.envelope(id, created_at, &fields);
        let assembler = Assembler::new(envelope, used, Box::new(RandomIds), true)
            .with_form(self.turn.gateway.settings.event_names)
            .with_obfuscation(self.turn.request.obfuscation());
        let origin = Upstream::Http(self.http).origin(&self.turn.request.model);
        let context = RequestContext::from_request(&fields, origin);
        ResponseReader::new(UpstreamApi::Responses, context, assembler)
    }

    /// The envelope of a response that the upstream owns.
    fn envelope(&self, id: &str, created_at: i64, fields: &Object<'_>) -> Envelope {
        let envelope =
            |conversation| Envelope::new(id, created_at, fields, conversation).owned_by_upstream();
        match (self.alias, &self.turn.request.continues) {
            (Some(alias), _) => envelope(Some(&alias.ours)).renaming_conversation(),
            (None, Continues::Conversation(id)) => envelope(Some(id)),
            (None, Continues::Nothing | Continues::Response(_)) => envelope(None),
        }
    }

    /// Replaces the conversation id in the upstream's response object with the one that callers
    /// know.
    fn translated(&self, response: String) -> String {
        match self.alias {
            Some(alias) => alias.text(response),
            None => response,
        }
    }

    fn ledgers(&self) -> &dyn Ledgers {
        self.turn.gateway.store.ledgers()
    }

    /// The origin of model output: the upstream, for any of its models.
    fn origin_of(&self, item: &Item) -> Option<Origin> {
        item.head().is_model_made().then(|| Origin::new(self.http.base()))
    }
}
