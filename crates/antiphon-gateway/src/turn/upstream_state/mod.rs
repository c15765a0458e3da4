//! A turn whose conversation is stored by its upstream.
//!
//! The upstream stores conversations, responses and items under its own ids, and clients see only
//! those. The one exception is a conversation that clients know by an [`IdMapping`].
//!
//! The gateway keeps a *ledger*: a conversation in its own store that mirrors the upstream's, under
//! local ids that no client sees. The ledger holds item heads and fingerprints, and bodies if
//! [`Ledger::Bodies`](crate::settings::Ledger::Bodies) is set. That is enough to send only new
//! items and to repair an input that the upstream would reject.
//!
//! [`UpstreamTurn::take`] is the whole turn; start reading there. Each stage is a type that
//! consumes the one before:
//!
//! 1. [`UpstreamTurn`]: a request and its upstream.
//! 2. [`PreparingAtUpstream`] (`prepare`): it performs the actions of the engine's state machine, a
//!    [`Preparation`](antiphon::stateful::Preparation), which a client without a gateway uses too.
//!    The known items are those of the ledger: `open` finds them under the lease of the
//!    conversation, and `resync` replaces them with the listed items. If the client sent the
//!    request before, `prior_attempt` replays the upstream's complete answer, or finds the input
//!    items that an earlier attempt left there. If the upstream has lost the response, the turn
//!    continues from the ledger alone.
//! 3. [`PlannedAtUpstream`](prepare::PlannedAtUpstream): a place and a plan.
//! 4. [`Answer`] (`send`): the ledger is marked stale and the request sent. After a state error
//!    the preparation goes on. A locked conversation is retried until the turn's wait ends. `relay`
//!    passes the answer on. The client receives nothing before the response's id is in the ledger.
//!    `queued` handles a response in the upstream's own background.
//! 5. `commit`: stores the turn in the ledger, and marks the ledger fresh if the turn ended well.
//!    The client receives the terminal event only after that.
//!
//! # Stale ledgers
//! The ledger of a conversation is stale from the moment before a request is sent until a commit,
//! or a rejection that surely changed nothing, makes it fresh. If the process dies in between, the
//! next turn resyncs it.

mod commit;
mod open;
mod prepare;
mod prior_attempt;
mod queued;
mod relay;
mod resync;
mod send;
mod turn_copy;

use antiphon::dialect::{RequestContext, UpstreamApi};
use antiphon::json::Object;
use antiphon::reconcile::AdmissionMode;
use antiphon::stateful::Rules;
use antiphon::stream::{Assembler, Envelope, UsedIds};
use antiphon::{HeldItem, Origin};
use antiphon_store::{LedgerEntry, Ledgers, UpstreamId};
use tokio::time::Instant;

use self::prepare::{Prepared, PreparingAtUpstream};
use self::send::Answer;
use super::cancel::TurnError;
use super::client::Client;
use super::context::Turn;
use super::prior_attempt::register_attempt;
use super::reader::ResponseReader;
use crate::entropy::RandomIds;
use crate::entropy::from_now;
use crate::error::ApiError;
use crate::id_mapping::IdMapping;
use crate::owner::{Provider, describe};
use crate::request::{Continues, RequestMode};
use crate::settings::Ledger;
use crate::upstream::{HttpUpstream, Upstream};

/// A turn of a conversation or of a response chain that its upstream owns.
#[derive(Clone, Copy)]
pub(super) struct UpstreamTurn<'a> {
    turn: &'a Turn<'a>,
    http: &'a HttpUpstream,
    /// The two ids of the conversation, if callers know another one than the upstream.
    mapping: Option<&'a IdMapping>,
    /// The time at which the turn stops waiting for other turns of the conversation.
    waits_until: Instant,
}

impl<'a> UpstreamTurn<'a> {
    /// A turn whose state is owned by this upstream. `mapping` has the ids of a conversation that
    /// callers know by another id.
    pub(super) fn new(
        turn: &'a Turn<'a>,
        http: &'a HttpUpstream,
        mapping: Option<&'a IdMapping>,
    ) -> Self {
        let waits_until = from_now(turn.gateway.settings.turn_wait);
        Self { turn, http, mapping, waits_until }
    }

    /// Runs the turn from start to end. A rejected request leaves the upstream's state unchanged,
    /// except for blocking items that were deleted before (`planned`). If the upstream may have
    /// started the turn, the ledger stays stale and the next turn resyncs it.
    pub(super) async fn take(self, client: &mut Client) -> Result<(), TurnError> {
        self.check_request().await?;
        let _underway = register_attempt(self.turn).await?;
        let planned = match PreparingAtUpstream::new(self).prepare().await? {
            Prepared::Planned(planned) => planned,
            Prepared::ByPriorAttempt(prior) => return Ok(self.replay(prior, client).await?),
        };
        planned.check_quotas().await?;
        match Box::pin(planned.send(client)).await? {
            Some((planned, Answer::Relayed(relayed))) => planned.commit(*relayed, client).await,
            Some((planned, Answer::Queued(queued))) => {
                planned.commit_queued(queued, client).await?;
            }
            None => {}
        }
        Ok(())
    }

    /// Rejects a request that cannot become a turn, before anything changes.
    pub(super) async fn check_request(&self) -> Result<(), ApiError> {
        let turn = self.turn;
        // This feature exists only if the gateway owns the state.
        if turn.request.mode == RequestMode::Preparation {
            return Err(ApiError::PreparationAtUpstream { owner: describe(self.http) });
        }
        turn.check_store().await?;
        turn.gateway.owners(turn.caller).check_turn(self.http, turn.request).await
    }

    /// The rules for requests to the upstream.
    fn rules(&self) -> Rules {
        let (gateway, request) = (self.turn.gateway, self.turn.request);
        Rules {
            key: gateway.fingerprint_key,
            mode: AdmissionMode::Ledger,
            style: request.replay_style,
            is_strict: !self.turn.repairs(),
            is_delivery: false,
            origin: Some(Origin::new(self.http.base())),
        }
    }

    /// The reader of a response with this id. The upstream's encrypted content belongs to the
    /// caller, so it passes unchanged.
    fn reader(&self, id: &str, created_at: i64, used: UsedIds) -> ResponseReader {
        let fields = self.turn.request.object();
        let envelope = self.envelope(id, created_at, &fields);
        let assembler = Assembler::new(envelope, used, Box::new(RandomIds), true)
            .with_form(self.turn.gateway.settings.event_names)
            .with_obfuscation(self.turn.request.obfuscation());
        let origin = Upstream::Http(self.http).origin(&self.turn.request.model);
        let context = RequestContext::from_request(&fields, &[], origin);
        ResponseReader::new(UpstreamApi::Responses, context, assembler)
    }

    /// The envelope of a response that the upstream owns.
    fn envelope(&self, id: &str, created_at: i64, fields: &Object<'_>) -> Envelope {
        let envelope =
            |conversation| Envelope::new(id, created_at, fields, conversation).owned_by_upstream();
        match (self.mapping, &self.turn.request.continues) {
            (Some(mapping), _) => envelope(Some(&mapping.gateway)).renaming_conversation(),
            (None, Continues::Conversation(id)) => envelope(Some(id)),
            (None, Continues::Nothing | Continues::Response(_)) => envelope(None),
        }
    }

    /// Replaces the conversation id in the upstream's response object with the one that callers
    /// know.
    fn translated(&self, response: String) -> String {
        match self.mapping {
            Some(mapping) => mapping.text(response),
            None => response,
        }
    }

    /// Whether the turn has a record as a pending turn. Its client may learn the response's id, or
    /// retry the request after it stopped waiting. In the background, the job has its own record.
    fn has_pending_turn(&self) -> bool {
        self.turn.request.store && !self.turn.request.background
    }

    /// The items as ledger entries: without their bodies, unless the operator wants them there.
    fn entries<'i>(&self, items: impl IntoIterator<Item = &'i HeldItem>) -> Vec<HeldItem> {
        let entry = |item: HeldItem| match self.turn.gateway.settings.ledger {
            Ledger::Heads => item.without_body(),
            Ledger::Bodies => item,
        };
        items.into_iter().cloned().map(entry).collect()
    }

    fn provider(&self) -> Provider<'a> {
        Provider::new(self.http, self.turn.caller)
    }

    fn ledgers(&self) -> &'a dyn Ledgers {
        self.turn.gateway.store.ledgers()
    }

    /// The ledger of the object with this id.
    async fn entry(&self, id: &str) -> Result<Option<LedgerEntry>, ApiError> {
        Ok(self.ledgers().entry(&self.turn.caller.tenant, id).await?)
    }

    /// The upstream's name for a conversation or response.
    fn named(&self, id: &str) -> UpstreamId {
        UpstreamId { upstream: self.http.base().to_owned(), id: id.to_owned() }
    }
}
