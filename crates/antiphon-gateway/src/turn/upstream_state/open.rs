//! Opens the turn: finds its ledger and acquires the lease.

use antiphon_store::{
    Conversation, ConversationId, Destination, LedgerEntry, LedgerSubject, ResponseRecord, Shard,
    ThreadId, UpstreamId,
};
use bytes::Bytes;
use http::StatusCode;

use super::UpstreamTurn;
use crate::entropy::{RandomIds, unix_now};
use crate::error::{ApiError, Hint};
use crate::request::Continues;
use crate::turn::open::Opened;

/// The metadata of a ledger's conversation. The upstream stores the real metadata.
const NO_METADATA: Bytes = Bytes::from_static(b"{}");

impl UpstreamTurn<'_> {
    /// Opens the turn at the point that the request continues. Resyncs an unknown or stale ledger
    /// from the upstream.
    pub(super) async fn open(&self) -> Result<Opened, ApiError> {
        match &self.turn.request.continues {
            Continues::Nothing => Opened::on_new_thread(self.turn).await,
            Continues::Conversation(id) => self.open_conversation(id).await,
            Continues::Response(id) => self.open_after(id).await,
        }
    }

    /// Continues a conversation, as its only open turn at this gateway.
    async fn open_conversation(&self, id: &str) -> Result<Opened, ApiError> {
        let unknown = || ApiError::ConversationNotFound { id: id.into(), hint: Hint::None };
        let conversation = self.ledger_of(id).await?.ok_or_else(unknown)?;
        let opened = Opened::in_conversation(self.turn, conversation, unknown).await?;
        // The previous turn may have changed the entry while this one waited.
        let entry = self.entry(id).await?.ok_or_else(unknown)?;
        if !entry.is_stale {
            return Ok(opened);
        }
        match self.resync_conversation(id, &opened).await {
            Ok(()) => opened.at_current_end(self.turn).await,
            Err(error) => {
                self.forget_if_gone(id, &error).await?;
                Err(error)
            }
        }
    }

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

    /// Continues a response. If the turn of that response is still open, because its client has
    /// just disconnected, waits for its end.
    async fn open_after(&self, id: &str) -> Result<Opened, ApiError> {
        let record = match self.fresh_record(id).await? {
            Some(record) => record,
            None => self.resync_response(id, None).await?,
        };
        self.open_at(&record).await
    }

    /// Opens the turn at the end of this response.
    pub(super) async fn open_at(&self, record: &ResponseRecord) -> Result<Opened, ApiError> {
        let (cursor, destination) = (record.cursor, after(record));
        Opened::new(self.turn, cursor.shard, Some(cursor), destination).await
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

    async fn entry(&self, id: &str) -> Result<Option<LedgerEntry>, ApiError> {
        Ok(self.ledgers().entry(&self.turn.caller.tenant, id).await?)
    }

    /// The upstream's name for a conversation or response.
    pub(super) fn named(&self, id: &str) -> UpstreamId {
        UpstreamId { upstream: self.http.base().to_owned(), id: id.to_owned() }
    }
}

/// The place for a turn that continues this response.
pub(super) fn after(record: &ResponseRecord) -> Destination {
    let end_of = record.response.conversation.is_some().then(|| record.response.id.clone());
    Destination::After { cursor: record.cursor, fork: ThreadId::issue(&mut RandomIds), end_of }
}
