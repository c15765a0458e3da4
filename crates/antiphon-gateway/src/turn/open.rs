//! Opens a turn: finds its start in the transcript and acquires the conversation's lease.

use std::sync::Arc;

use antiphon::Transcript;
use antiphon_store::{
    Base, ConversationId, Cursor, Place, ResponseId, ResponseRecord, Shard, ThreadId,
};

use super::{Announced, Turn};
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::lease::{Lease, OpenResponse};
use crate::open_turns::OpenTurn;
use crate::request::Continues;

/// An open turn.
pub(super) struct Opened {
    /// The response id, the same from the first event on.
    pub(super) response_id: ResponseId,
    /// Unix seconds.
    pub(super) created_at: i64,
    /// The conversation of the turn, if any.
    pub(super) conversation: Option<ConversationId>,
    /// The end of the transcript that the turn continues; `None` for a new thread.
    pub(super) cursor: Option<Cursor>,
    /// The transcript itself, if the turn continues a response that only its connection remembers.
    remembered: Option<Arc<Transcript>>,
    /// The place to which the commit appends the items.
    pub(super) base: Base,
    /// The turn's hold on the conversation, until the commit.
    within: Option<Within>,
    /// The hold on the response itself, for as long.
    _response: OpenResponse,
}

/// A turn's hold on its conversation.
pub(super) struct Within {
    /// The entry among the open turns. It is dropped before the lease.
    turn: OpenTurn,
    lease: Lease,
}

impl Opened {
    /// The turn's place in the conversation's queue, which the commit checks.
    pub(super) fn place(&self) -> Option<Place> {
        self.within.as_ref().and_then(|within| within.lease.place())
    }

    /// Whether the turn starts exactly at the end of this response.
    pub(super) fn begins_behind(&self, record: &ResponseRecord) -> bool {
        self.cursor == Some(record.cursor)
    }

    /// Whether the items of this response are on the thread that the turn appends to.
    pub(super) fn is_on_thread_of(&self, record: &ResponseRecord) -> bool {
        self.cursor.is_some_and(|cursor| {
            (cursor.shard, cursor.thread) == (record.cursor.shard, record.cursor.thread)
        })
    }

    /// The place for the items of a failed turn: a fork outside the conversation.
    pub(super) fn base_apart(&self) -> Base {
        match (&self.base, self.cursor) {
            (Base::Conversation(_), Some(cursor)) => {
                Base::After { cursor, fork: ThreadId::issue(&mut RandomIds), end_of: None }
            }
            (base, _) => base.clone(),
        }
    }

    /// Closes the turn. The next turn of the conversation can then start, and so can turns that
    /// wait for the response.
    pub(super) async fn close(self) {
        if let Some(Within { turn, lease }) = self.within {
            drop(turn);
            lease.release().await;
        }
    }

    /// Waits until the turn's conversation is deleted; never returns without a conversation.
    pub(super) async fn conversation_deleted(&self) {
        match &self.within {
            Some(within) => within.turn.conversation_deleted().await,
            None => std::future::pending().await,
        }
    }
}

impl Announced {
    /// Issues a response id with the current time.
    pub(super) fn now(shard: Shard) -> Self {
        Self { id: ResponseId::issue(shard, &mut RandomIds), created_at: unix_now() }
    }
}

impl Turn<'_> {
    /// Opens the turn where the request continues.
    pub(super) async fn open(&self) -> Result<Opened, ApiError> {
        match &self.request.continues {
            Continues::Nothing => self.open_new().await,
            Continues::Response(id) => self.open_after(id).await,
            Continues::Conversation(id) => self.open_conversation(id).await,
        }
    }

    /// Opens the turn on a new thread.
    pub(super) async fn open_new(&self) -> Result<Opened, ApiError> {
        let shard = self.shard_of_request();
        let thread = ThreadId::issue(&mut RandomIds);
        self.opened(shard, None, Base::New { shard, thread }, None).await
    }

    /// Continues a response. If the turn of that response is still open, because its client has
    /// just disconnected, waits for its end.
    async fn open_after(&self, text: &str) -> Result<Opened, ApiError> {
        let unknown = || self.gateway.previous_response_not_found(text);
        let id = ResponseId::parse(text).ok_or_else(unknown)?;
        if let Some(remembered) = self.remembered(text) {
            return self.open_remembered(&id, remembered).await;
        }
        let Some(record) = self.response(&id).await? else {
            // A turn of another lane may have ended in the meantime.
            let remembered = self.remembered(text).ok_or_else(unknown)?;
            return self.open_remembered(&id, remembered).await;
        };
        let fork = ThreadId::issue(&mut RandomIds);
        let (shard, cursor) = (id.shard(), record.cursor);
        let end_of = record.response.conversation.is_some().then_some(id);
        self.opened(shard, Some(cursor), Base::After { cursor, fork, end_of }, None).await
    }

    /// Continues a response that only the connection remembers. A chain is stored in full or not at
    /// all, so a stored turn cannot continue it.
    async fn open_remembered(
        &self,
        id: &ResponseId,
        remembered: Arc<Transcript>,
    ) -> Result<Opened, ApiError> {
        if self.request.store {
            return Err(ApiError::PreviousResponseNotStored { id: id.as_str().into() });
        }
        let base = Base::New { shard: id.shard(), thread: ThreadId::issue(&mut RandomIds) };
        let opened = self.opened(id.shard(), None, base, None).await?;
        Ok(Opened { remembered: Some(remembered), ..opened })
    }

    /// The cursor that a turn of this request would continue; `None` for a new thread. Opens
    /// nothing, and waits for an open turn only if the request names its response.
    pub(super) async fn begins_at(&self) -> Result<Option<Cursor>, ApiError> {
        match &self.request.continues {
            Continues::Nothing => Ok(None),
            Continues::Response(text) => {
                let unknown = || self.gateway.previous_response_not_found(text);
                let id = ResponseId::parse(text).ok_or_else(unknown)?;
                Ok(Some(self.response(&id).await?.ok_or_else(unknown)?.cursor))
            }
            Continues::Conversation(text) => {
                let unknown = || self.gateway.conversation_not_found(text);
                let id = ConversationId::parse(text).ok_or_else(unknown)?;
                let found = self.gateway.store.conversation(&self.caller.tenant, &id).await?;
                Ok(Some(found.ok_or_else(unknown)?.1))
            }
        }
    }

    async fn open_conversation(&self, text: &str) -> Result<Opened, ApiError> {
        let unknown = || self.gateway.conversation_not_found(text);
        let id = ConversationId::parse(text).ok_or_else(unknown)?;
        self.open_held(id, unknown).await
    }

    /// Continues a conversation of the store, as its only open turn.
    pub(super) async fn open_held(
        &self,
        id: ConversationId,
        unknown: impl FnOnce() -> ApiError,
    ) -> Result<Opened, ApiError> {
        let tenant = &self.caller.tenant;
        let lease = self.leases.conversation(tenant, &id).await?;
        let lease = lease.ok_or(ApiError::ConversationLocked)?;
        let turn = self.gateway.open_turns.enter(tenant, &id);
        let found = self.gateway.store.conversation(tenant, &id).await?;
        let (_, cursor) = found.ok_or_else(unknown)?;
        let base = Base::Conversation(id.clone());
        self.opened(id.shard(), Some(cursor), base, Some((id, Within { turn, lease }))).await
    }

    /// Moves the turn to the conversation's current end after its items were resynced.
    pub(super) async fn reopened(&self, opened: Opened) -> Result<Opened, ApiError> {
        let Some(id) = &opened.conversation else { return Ok(opened) };
        let found = self.gateway.store.conversation(&self.caller.tenant, id).await?;
        let (_, cursor) = found.ok_or(ApiError::ConversationDeleted)?;
        Ok(Opened { cursor: Some(cursor), ..opened })
    }

    pub(super) async fn opened(
        &self,
        shard: Shard,
        cursor: Option<Cursor>,
        base: Base,
        conversation: Option<(ConversationId, Within)>,
    ) -> Result<Opened, ApiError> {
        let Announced { id: response_id, created_at } = self.announced(shard);
        let response = self.leases.open_response(&self.caller.tenant, &response_id).await;
        let response = response.ok_or(ApiError::ConversationLocked)?;
        let (conversation, within) = conversation.unzip();
        Ok(Opened {
            response_id,
            created_at,
            conversation,
            cursor,
            remembered: None,
            base,
            within,
            _response: response,
        })
    }

    /// The identity of the turn's response.
    fn announced(&self, shard: Shard) -> Announced {
        self.announced.clone().unwrap_or_else(|| Announced::now(shard))
    }

    /// The shard of a new thread. It follows from the request digest, so that a retry of the
    /// request finds the thread.
    pub(super) fn shard_of_request(&self) -> Shard {
        self.request.identity.digest.shard()
    }

    /// The record of a response after its turn has ended. Waits for turns of this process first and
    /// then, if no record exists, for those of other processes.
    pub(super) async fn response(
        &self,
        id: &ResponseId,
    ) -> Result<Option<ResponseRecord>, ApiError> {
        let (leases, store) = (&self.leases, &self.gateway.store);
        let tenant = &self.caller.tenant;
        if !leases.response_ended_here(tenant, id).await {
            return Err(ApiError::ConversationLocked);
        }
        match store.response(tenant, id).await? {
            None if leases.response_ended(tenant, id).await? => {
                Ok(store.response(tenant, id).await?)
            }
            None => Err(ApiError::ConversationLocked),
            record => Ok(record),
        }
    }

    /// The transcript that the turn continues: remembered by its connection, or stored.
    pub(super) async fn held(&self, opened: &Opened) -> Result<Transcript, ApiError> {
        match &opened.remembered {
            Some(remembered) => Ok(self.without_deleted(remembered).await?),
            None => self.load(opened.cursor).await,
        }
    }

    /// The transcript that ends at this cursor.
    pub(super) async fn load(&self, cursor: Option<Cursor>) -> Result<Transcript, ApiError> {
        match cursor {
            None => Ok(Transcript::default()),
            Some(cursor) => {
                let held = self.gateway.store.transcript(&self.caller.tenant, cursor).await?;
                Ok(held.into_iter().collect())
            }
        }
    }
}
