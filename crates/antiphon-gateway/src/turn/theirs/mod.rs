//! A turn whose state its upstream keeps.
//!
//! The upstream holds conversations, responses and their items under ids of its own, which are the
//! only ones that callers are told. Antiphon keeps a ledger of what it holds, under ids that nobody is
//! told: heads and fingerprints, enough to send only what is new and to mend what would be refused.

mod again;
mod around;
mod attempt;
mod commit;
mod learn;
mod open;
mod plan;
mod queued;
mod relay;
mod replay;
mod send;
mod stuck;
mod told;

use antiphon::dialect::{Asked, Dialect};
use antiphon::json::Object;
use antiphon::stream::{Assembler, Envelope, Taken};
use antiphon::{Item, Origin};
use antiphon_store::Ledgers;
use tokio::time::Instant;

use self::attempt::{Answer, Planned};

use self::plan::Plan;
use super::open::Opened;
use super::relay::Hearing;
use super::{Client, Turn};
use crate::alias::Alias;
use crate::bound::from_now;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::owner::described;
use crate::request::{Continues, Wants};
use crate::upstream::{Asking, HttpUpstream, Upstream};

/// A turn of a conversation, or in a chain, that its upstream keeps.
pub(super) struct Theirs<'a> {
    turn: &'a Turn<'a>,
    http: &'a HttpUpstream,
    /// The two ids of its conversation, where callers know another than the upstream's.
    alias: Option<&'a Alias>,
    /// Until when it waits for those who have its conversation.
    waits_until: Instant,
}

impl<'a> Theirs<'a> {
    /// The turn, its state kept by this upstream.
    pub(super) fn new(turn: &'a Turn<'a>, http: &'a HttpUpstream) -> Self {
        let waits_until = from_now(turn.gateway.settings.turn_wait);
        Self { turn, http, alias: None, waits_until }
    }

    /// The same in a conversation that callers know by another id than the upstream.
    pub(super) fn known_as(self, alias: &'a Alias) -> Self {
        Self { alias: Some(alias), ..self }
    }

    /// The turn, end to end. What the upstream refuses leaves everything there as it was; where it may
    /// have begun, what it holds is in doubt, and learnt from it before the next turn.
    pub(super) async fn take(&self, client: &mut Client) -> Result<(), ApiError> {
        self.check_request().await?;
        let _underway = self.turn.enter().await?;
        let (opened, mut basis) = self.open_somehow().await?;
        let made = self.made_before(&opened).await?;
        let Some(brought) = self.told_again(made, client).await? else { return Ok(()) };
        basis.brought = brought;
        let planned = self.planned(opened, basis).await?;
        let Planned { opened, plan, .. } = &planned;
        let (held, _) = plan.transcript.items().split_at(plan.held);
        self.turn.check_quotas(opened, held, &plan.fresh).await?;
        let mut asking = Asking::of(Upstream::Http(self.http));
        let answered = self.answered(planned, &mut asking, client).await?;
        let Some((Planned { opened, plan, .. }, answer)) = answered else { return Ok(()) };
        let _guard = self.turn.guard_opening(&opened);
        let plan = plan.retried(asking.retries());
        match answer {
            Answer::Told(answered) => self.conclude(opened, plan, *answered, client).await,
            Answer::Queued(queued) => self.conclude_queued(opened, plan, queued, client).await,
        }
    }

    /// Refuses what cannot become a turn, before anything is changed.
    pub(super) async fn check_request(&self) -> Result<(), ApiError> {
        self.check()?;
        let turn = self.turn;
        turn.check_store().await?;
        turn.gateway.check_turn(turn.caller, self.http, turn.request).await
    }

    /// What the gateway does by itself elsewhere and cannot do here.
    fn check(&self) -> Result<(), ApiError> {
        match self.turn.request.wants {
            Wants::Answer => Ok(()),
            Wants::Preparation => Err(ApiError::invalid(format!(
                "What this request goes on from is kept by {}, which prepares nothing: leave \
                 'generate' out.",
                described(self.http)
            ))
            .param("generate")),
        }
    }

    fn hearing(&self, opened: &Opened, plan: &Plan) -> Hearing {
        let fields = self.turn.request.object();
        let (id, created_at) = (opened.response_id.as_str(), opened.created_at);
        let envelope = self.envelope(id, created_at, &fields);
        let taken = Taken::items_of(&plan.transcript);
        // What the upstream encrypts is the caller's as it came.
        let assembler = Assembler::new(envelope, taken, Box::new(RandomIds), true)
            .in_form(self.turn.gateway.settings.event_names)
            .obfuscating(self.turn.request.obfuscation());
        let asked = Asked::of(&fields, plan.origin.clone());
        let hearing = Hearing::new(Dialect::Responses, asked, assembler);
        hearing.bounded(Upstream::Http(self.http).max_event())
    }

    /// The envelope of a response that the upstream keeps.
    fn envelope(&self, id: &str, created_at: i64, fields: &Object<'_>) -> Envelope {
        let envelope =
            |conversation| Envelope::new(id, created_at, fields, conversation).kept_upstream();
        match (self.alias, &self.turn.request.continues) {
            (Some(alias), _) => envelope(Some(&alias.ours)).renaming_conversation(),
            (None, Continues::Conversation(id)) => envelope(Some(id)),
            (None, Continues::Nothing | Continues::Response(_)) => envelope(None),
        }
    }

    /// The upstream's response object, with the conversation's id that callers know.
    fn translated(&self, response: String) -> String {
        match self.alias {
            Some(alias) => alias.text(response),
            None => response,
        }
    }

    fn ledgers(&self) -> &dyn Ledgers {
        self.turn.gateway.store.ledgers()
    }

    /// Where items come from that the upstream's model made, whichever of its models.
    fn origin_of(&self, item: &Item) -> Option<Origin> {
        item.head().is_model_made().then(|| Origin::new(self.http.base()))
    }
}
