//! The second stage: a turn with its place in a ledger.

use antiphon::{Body, Transcript};
use antiphon_store::{
    Conversation, ConversationId, Destination, LedgerEntry, LedgerSubject, ResponseRecord, Shard,
    ThreadId,
};
use bytes::Bytes;
use http::StatusCode;

use super::UpstreamTurn;
use super::plan::{ContinueFrom, EarlierPoint};
use super::turn_copy::CopiedTurn;
use crate::entropy::{RandomIds, unix_now};
use crate::error::{ApiError, Hint};
use crate::request::Continues;
use crate::settings::Ledger;
use crate::turn::open::Opened;
use crate::turn::pending::PendingTurn;
use crate::upstream::{StateError, UpstreamError};

/// The metadata of a ledger's conversation. The upstream stores the real metadata.
const NO_METADATA: Bytes = Bytes::from_static(b"{}");

/// A turn with its place in a ledger.
pub(super) struct OpenedAtUpstream<'a> {
    pub(super) at: UpstreamTurn<'a>,
    pub(super) place: Opened,
    pub(super) pending: PendingTurn<'a>,
    /// The copy of the turn that this one continues.
    copy: Option<CopiedTurn>,
}

impl<'a> OpenedAtUpstream<'a> {
    /// Opens the turn at the point that the request continues. Resyncs an unknown or stale ledger
    /// from the upstream. If the upstream has lost the previous response, opens the turn on the
    /// ledger's copy.
    pub(super) async fn open(at: UpstreamTurn<'a>) -> Result<(Self, ContinueFrom), ApiError> {
        let lost = match Self::open_as_requested(at).await {
            Ok(opened) => return Ok((opened, ContinueFrom::AsRequested)),
            Err(error) => error,
        };
        let Some(record) = at.record_of_lost(&lost).await? else { return Err(lost) };
        let opened = Self::open_after(at, &record).await?;
        match opened.earlier_point().await? {
            Some(point) => Ok((opened, ContinueFrom::Earlier(point))),
            None => Err(lost),
        }
    }

    async fn open_as_requested(at: UpstreamTurn<'a>) -> Result<Self, ApiError> {
        match &at.turn.request.continues {
            Continues::Nothing => Ok(Self::new(at, Opened::on_new_thread(at.turn).await?)),
            Continues::Conversation(id) => Self::open_conversation(at, id).await,
            Continues::Response(id) => {
                // If the turn of that response is still open, because its client has just
                // disconnected, this waits for its end.
                let record = match at.fresh_record(id).await? {
                    Some(record) => record,
                    None => at.resync_response(id, None).await?,
                };
                Self::open_after(at, &record).await
            }
        }
    }

    /// Continues a conversation, as its only open turn at this gateway.
    async fn open_conversation(at: UpstreamTurn<'a>, id: &str) -> Result<Self, ApiError> {
        let unknown = || ApiError::ConversationNotFound { id: id.into(), hint: Hint::None };
        let conversation = at.ledger_of(id).await?.ok_or_else(unknown)?;
        let place = Opened::in_conversation(at.turn, conversation, unknown).await?;
        let opened = Self::new(at, place);
        // The previous turn may have changed the entry while this one waited.
        if !at.entry(id).await?.ok_or_else(unknown)?.is_stale {
            return Ok(opened);
        }
        if let Err(error) = opened.resync_conversation(id).await {
            at.forget_if_gone(id, &error).await?;
            return Err(error);
        }
        opened.at_current_end().await
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

    pub(super) fn new(at: UpstreamTurn<'a>, place: Opened) -> Self {
        let pending = PendingTurn::new(at.turn, &place);
        Self { at, place, pending, copy: None }
    }

    /// Moves the turn to the conversation's current end after its items were resynced.
    pub(super) async fn at_current_end(self) -> Result<Self, ApiError> {
        Ok(Self { place: self.place.at_current_end(self.at.turn).await?, ..self })
    }

    /// The latest point from which the ledger has the full content up to this turn, so that the
    /// turn can be sent to an upstream that has lost the previous response.
    pub(super) async fn earlier_point(&self) -> Result<Option<EarlierPoint>, ApiError> {
        let turn = self.at.turn;
        if !matches!(turn.request.continues, Continues::Response(_)) {
            return Ok(None);
        }
        let held = turn.load(self.place.cursor).await?;
        if let Some(copy) = &self.copy {
            return Ok(copy.start_in(&held));
        }
        let has_bodies = turn.gateway.settings.ledger == Ledger::Bodies
            && held.items().iter().all(|item| item.body != Body::StoredElsewhere);
        Ok(has_bodies.then_some(EarlierPoint { previous: None, kept: 0 }))
    }

    /// The stored items, with the bytes of those that the turn sends again.
    pub(super) async fn load(&self, from: &ContinueFrom) -> Result<Transcript, ApiError> {
        let stored = self.at.turn.load(self.place.cursor).await?;
        Ok(match (from, &self.copy) {
            (ContinueFrom::Earlier(_), Some(copy)) => copy.fill(&stored),
            _ => stored,
        })
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
    async fn forget_if_gone(&self, id: &str, error: &ApiError) -> Result<(), ApiError> {
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
            return Err(ApiError::PreviousResponseNotFound { id: id.into(), hint: Hint::None });
        };
        let record = self.turn.wait_for_response(open).await?;
        // The turn may have ended successfully in the meantime.
        match self.entry(id).await? {
            Some(now) if now.subject == entry.subject && !now.is_stale => Ok(record),
            _ => Ok(None),
        }
    }

    /// The ledger's record of the previous response, if this error reports that the response is
    /// lost. A stale record counts as well, because there is no other copy.
    async fn record_of_lost(&self, error: &ApiError) -> Result<Option<ResponseRecord>, ApiError> {
        let Continues::Response(id) = &self.turn.request.continues else { return Ok(None) };
        if !is_response_lost(error) {
            return Ok(None);
        }
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

/// Whether the error reports that the previous response does not exist.
fn is_response_lost(error: &ApiError) -> bool {
    match error {
        ApiError::Upstream(rejection) => {
            let fault = UpstreamError::Rejected(rejection.clone()).state_error();
            fault == Some(StateError::UnknownResponse)
        }
        error => error.code() == "previous_response_not_found",
    }
}
