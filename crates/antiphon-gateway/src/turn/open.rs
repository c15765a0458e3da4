//! Opening a turn: where it goes on from, and the right to do so.

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
    /// The id that the response has from its first event on.
    pub(super) response_id: ResponseId,
    /// Unix seconds.
    pub(super) created_at: i64,
    /// The conversation that it is a turn of.
    pub(super) conversation: Option<ConversationId>,
    /// Where the transcript ends that it goes on from; `None` for a new thread.
    pub(super) cursor: Option<Cursor>,
    /// The transcript itself, where it goes on from a response that only its connection remembers.
    remembered: Option<Arc<Transcript>>,
    /// Where its items go.
    pub(super) base: Base,
    /// What it holds of the conversation, until it is committed.
    within: Option<Within>,
    /// The response itself, as long.
    _response: OpenResponse,
}

/// What a turn holds of its conversation.
pub(super) struct Within {
    /// Its place among the open turns, left before the lease is.
    turn: OpenTurn,
    lease: Lease,
}

impl Opened {
    /// The place in the conversation's line that the turn is committed from.
    pub(super) fn place(&self) -> Option<Place> {
        self.within.as_ref().and_then(|within| within.lease.place())
    }

    /// Whether it goes on from the very end of this response.
    pub(super) fn begins_behind(&self, record: &ResponseRecord) -> bool {
        self.cursor == Some(record.cursor)
    }

    /// Whether the items of this response are on the thread that the turn appends to.
    pub(super) fn is_on_thread_of(&self, record: &ResponseRecord) -> bool {
        self.cursor.is_some_and(|cursor| {
            (cursor.shard, cursor.thread) == (record.cursor.shard, record.cursor.thread)
        })
    }

    /// Where the items of a turn go that failed: not into the conversation.
    pub(super) fn base_apart(&self) -> Base {
        match (&self.base, self.cursor) {
            (Base::Conversation(_), Some(cursor)) => {
                Base::After { cursor, fork: ThreadId::issue(&mut RandomIds), end_of: None }
            }
            (base, _) => base.clone(),
        }
    }

    /// Ends it: whoever waits for the conversation or the response is let in.
    pub(super) async fn close(self) {
        if let Some(Within { turn, lease }) = self.within {
            drop(turn);
            lease.release().await;
        }
    }

    /// Waits until the conversation that it is a turn of is deleted.
    pub(super) async fn conversation_deleted(&self) {
        match &self.within {
            Some(within) => within.turn.conversation_deleted().await,
            None => std::future::pending().await,
        }
    }
}

impl Announced {
    /// A new one.
    pub(super) fn now(shard: Shard) -> Self {
        Self { id: ResponseId::issue(shard, &mut RandomIds), created_at: unix_now() }
    }
}

impl Turn<'_> {
    /// Opens the turn where the request says that it goes on.
    pub(super) async fn open(&self) -> Result<Opened, ApiError> {
        match &self.request.continues {
            Continues::Nothing => self.open_new().await,
            Continues::Response(id) => self.open_after(id).await,
            Continues::Conversation(id) => self.open_conversation(id).await,
        }
    }

    /// Goes on from nothing.
    pub(super) async fn open_new(&self) -> Result<Opened, ApiError> {
        let shard = self.shard_of_request();
        let thread = ThreadId::issue(&mut RandomIds);
        self.opened(shard, None, Base::New { shard, thread }, None).await
    }

    /// Goes on from a response. Where its turn is still open, because its caller has just left it,
    /// that ends first.
    async fn open_after(&self, text: &str) -> Result<Opened, ApiError> {
        let unknown = || self.gateway.previous_response_not_found(text);
        let id = ResponseId::parse(text).ok_or_else(unknown)?;
        if let Some(remembered) = self.remembered(text) {
            return self.open_remembered(&id, remembered).await;
        }
        let Some(record) = self.response(&id).await? else {
            // Another lane's turn may have ended meanwhile.
            let remembered = self.remembered(text).ok_or_else(unknown)?;
            return self.open_remembered(&id, remembered).await;
        };
        let fork = ThreadId::issue(&mut RandomIds);
        let (shard, cursor) = (id.shard(), record.cursor);
        let end_of = record.response.conversation.is_some().then_some(id);
        self.opened(shard, Some(cursor), Base::After { cursor, fork, end_of }, None).await
    }

    /// Goes on from a response that the store does not have. What is kept of a chain is all of it, so
    /// that nothing that is stored goes on from it.
    async fn open_remembered(
        &self,
        id: &ResponseId,
        remembered: Arc<Transcript>,
    ) -> Result<Opened, ApiError> {
        if self.request.store {
            return Err(ApiError::previous_response_not_stored(id.as_str()));
        }
        let base = Base::New { shard: id.shard(), thread: ThreadId::issue(&mut RandomIds) };
        let opened = self.opened(id.shard(), None, base, None).await?;
        Ok(Opened { remembered: Some(remembered), ..opened })
    }

    /// Where a turn of this request would go on from: `None` for a new thread. Nothing is opened; an
    /// open turn is waited for only where the request names its response.
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

    /// Goes on in a conversation of the store, as the one turn of it that is open.
    pub(super) async fn open_held(
        &self,
        id: ConversationId,
        unknown: impl FnOnce() -> ApiError,
    ) -> Result<Opened, ApiError> {
        let tenant = &self.caller.tenant;
        let lease = self.leases.conversation(tenant, &id).await?;
        let lease = lease.ok_or_else(ApiError::conversation_locked)?;
        let turn = self.gateway.open_turns.enter(tenant, &id);
        let found = self.gateway.store.conversation(tenant, &id).await?;
        let (_, cursor) = found.ok_or_else(unknown)?;
        let base = Base::Conversation(id.clone());
        self.opened(id.shard(), Some(cursor), base, Some((id, Within { turn, lease }))).await
    }

    /// The same turn, where what its conversation holds was put right meanwhile.
    pub(super) async fn reopened(&self, opened: Opened) -> Result<Opened, ApiError> {
        let Some(id) = &opened.conversation else { return Ok(opened) };
        let found = self.gateway.store.conversation(&self.caller.tenant, id).await?;
        let (_, cursor) = found.ok_or_else(ApiError::conversation_deleted)?;
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
        let response = response.ok_or_else(ApiError::conversation_locked)?;
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

    /// Who the response of this turn is.
    fn announced(&self, shard: Shard) -> Announced {
        self.announced.clone().unwrap_or_else(|| Announced::now(shard))
    }

    /// A new thread's shard follows from the request, so that the thread is found should the request
    /// be made again.
    pub(super) fn shard_of_request(&self) -> Shard {
        self.request.identity.digest.shard()
    }

    /// The record of a response, once its turn has ended: here, and where there is none, in another
    /// process.
    pub(super) async fn response(
        &self,
        id: &ResponseId,
    ) -> Result<Option<ResponseRecord>, ApiError> {
        let (leases, store) = (&self.leases, &self.gateway.store);
        let tenant = &self.caller.tenant;
        if !leases.response_ended_here(tenant, id).await {
            return Err(ApiError::conversation_locked());
        }
        match store.response(tenant, id).await? {
            None if leases.response_ended(tenant, id).await? => {
                Ok(store.response(tenant, id).await?)
            }
            None => Err(ApiError::conversation_locked()),
            record => Ok(record),
        }
    }

    /// The transcript that the turn goes on from: what its connection remembers, or what is stored.
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
