//! The second stage: a turn with its place in a ledger.

use antiphon::stateful::EarlierPoint;
use antiphon::{Body, Transcript};
use antiphon_store::{
    Conversation, ConversationId, Destination, LedgerEntry, LedgerSubject, ResponseRecord, Shard,
    ThreadId,
};
use bytes::Bytes;
use http::StatusCode;

use super::UpstreamTurn;
use super::resync::{conversation_not_found, response_not_found};
use super::turn_copy::CopiedTurn;
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::settings::Ledger;
use crate::turn::open::Opened;
use crate::turn::pending::PendingTurn;

/// The metadata of a ledger's conversation. The upstream stores the real metadata.
const NO_METADATA: Bytes = Bytes::from_static(b"{}");

/// A turn with its place in a ledger.
pub(super) struct OpenedAtUpstream<'a> {
    pub(super) at: UpstreamTurn<'a>,
    pub(super) place: Box<Opened>,
    pub(super) pending: PendingTurn<'a>,
    /// The copy of the turn that this one continues.
    pub(super) copy: Option<CopiedTurn>,
}

impl<'a> OpenedAtUpstream<'a> {
    /// Starts a new thread.
    pub(super) async fn on_new_thread(at: UpstreamTurn<'a>) -> Result<Self, ApiError> {
        Ok(Self::new(at, Opened::on_new_thread(at.turn).await?))
    }

    /// Continues a conversation, as its only open turn at this gateway. Also returns whether its
    /// ledger is fresh.
    pub(super) async fn open_conversation(
        at: UpstreamTurn<'a>,
        id: &str,
    ) -> Result<(Self, bool), ApiError> {
        let unknown = || conversation_not_found(id);
        let conversation = at.ledger_of(id).await?.ok_or_else(unknown)?;
        let place = Opened::in_conversation(at.turn, conversation, unknown).await?;
        // The previous turn may have changed the entry while this one waited.
        let is_stale = at.entry(id).await?.ok_or_else(unknown)?.is_stale;
        Ok((Self::new(at, place), !is_stale))
    }

    /// Continues the response of this record.
    pub(super) async fn open_after(
        at: UpstreamTurn<'a>,
        record: &ResponseRecord,
    ) -> Result<Self, ApiError> {
        let (cursor, destination) = (record.cursor, after(record));
        let place = Opened::new(at.turn, cursor.shard, Some(cursor), destination).await?;
        let copy = record.response.copy.as_ref().and_then(|copy| at.open_copy(copy));
        Ok(Self { copy, ..Self::new(at, place) })
    }

    pub(super) fn new(at: UpstreamTurn<'a>, place: Box<Opened>) -> Self {
        let pending = PendingTurn::new(at.turn, &place);
        Self { at, place, pending, copy: None }
    }

    /// The stored items, and the latest point from which the ledger has their bytes, so that the
    /// turn can be sent to an upstream that has lost the previous response.
    pub(super) async fn load_lost(&self) -> Result<Option<(Transcript, EarlierPoint)>, ApiError> {
        let turn = self.at.turn;
        let held = turn.load(self.place.cursor).await?;
        if let Some(copy) = &self.copy {
            return Ok(copy.start_in(&held).map(|point| (copy.fill(&held), point)));
        }
        let has_bodies = turn.gateway.settings.ledger == Ledger::Bodies
            && held.items().iter().all(|item| item.body != Body::StoredElsewhere);
        Ok(has_bodies.then_some((held, EarlierPoint { previous: None, kept: 0 })))
    }
}

impl UpstreamTurn<'_> {
    /// The local conversation that serves as the ledger, created if there is none. `None` if the id
    /// is that of a response.
    async fn ledger_of(&self, id: &str) -> Result<Option<ConversationId>, ApiError> {
        let entry = match self.entry(id).await? {
            Some(entry) => entry,
            None => self.adopt(id).await?,
        };
        Ok(match entry.subject {
            LedgerSubject::Conversation(conversation) => Some(conversation),
            LedgerSubject::Response(_) => None,
        })
    }

    /// Creates the ledger of a conversation that exists only at the upstream.
    async fn adopt(&self, id: &str) -> Result<LedgerEntry, ApiError> {
        let conversation = Conversation {
            id: ConversationId::issue(Shard::issue(&mut RandomIds), &mut RandomIds),
            created_at: unix_now(),
            metadata: NO_METADATA,
        };
        let thread = ThreadId::issue(&mut RandomIds);
        let tenant = &self.turn.caller.tenant;
        Ok(self.ledgers().adopt(tenant, self.named(id), conversation, thread).await?)
    }

    /// Deletes the ledger of a conversation that the upstream no longer has. If tenants share the
    /// upstream's account, the ledger stays: it is the only proof of ownership, and the request may
    /// have named another project.
    pub(super) async fn forget_if_gone(&self, id: &str, error: &ApiError) -> Result<(), ApiError> {
        if self.turn.gateway.is_shared(self.http) {
            return Ok(());
        }
        if matches!(error, ApiError::Upstream(_)) && error.status() == StatusCode::NOT_FOUND {
            self.ledgers().forget(&self.turn.caller.tenant, id).await?;
        }
        Ok(())
    }

    /// The record of a response, if it is complete and fresh.
    pub(super) async fn fresh_record(&self, id: &str) -> Result<Option<ResponseRecord>, ApiError> {
        let Some(entry) = self.entry(id).await? else { return Ok(None) };
        let LedgerSubject::Response(open) = &entry.subject else {
            return Err(response_not_found(id));
        };
        let record = self.turn.wait_for_response(open).await?;
        // The turn may have ended successfully in the meantime.
        match self.entry(id).await? {
            Some(now) if now.subject == entry.subject && !now.is_stale => Ok(record),
            _ => Ok(None),
        }
    }

    /// The ledger's record of a response that the upstream has lost. A stale record counts as well,
    /// because there is no other copy.
    pub(super) async fn lost_record(&self, id: &str) -> Result<Option<ResponseRecord>, ApiError> {
        match self.entry(id).await?.map(|entry| entry.subject) {
            Some(LedgerSubject::Response(local)) => self.turn.wait_for_response(&local).await,
            _ => Ok(None),
        }
    }
}

/// The place for a turn that continues this response.
pub(super) fn after(record: &ResponseRecord) -> Destination {
    let end_of = record.response.conversation.is_some().then(|| record.response.id.clone());
    Destination::After { cursor: record.cursor, fork: ThreadId::issue(&mut RandomIds), end_of }
}
