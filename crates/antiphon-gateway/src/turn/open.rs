//! Opens a turn: finds its start in the transcript and acquires the conversation's lease.

use std::sync::Arc;

use antiphon::json::Object;
use antiphon::stream::Envelope;
use antiphon::{HeldItem, Transcript};
use antiphon_store::{
    ConversationId, Cursor, Destination, HotTranscripts, NewResponse, QueuePlace, ResponseId,
    ResponseRecord, Shard, StoreVersion, ThreadId, Usage,
};
use bytes::Bytes;

use super::context::{Announced, Turn};
use super::report::Report;
use super::{hot, lane};
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::lease::{Lease, ResponseLock};
use crate::open_turns::{OpenResponse, OpenTurn};
use crate::request::Continues;
use crate::upstream::Upstream;

/// A turn with a response id and a place in the transcript. The turn holds its conversation.
pub(super) struct OpenedTurn<'a> {
    pub(super) turn: &'a Turn<'a>,
    pub(super) upstream: Upstream<'a>,
    pub(super) opened: Box<Opened>,
}

impl<'a> OpenedTurn<'a> {
    /// Opens the turn where its request continues.
    pub(super) async fn open(turn: &'a Turn<'a>) -> Result<Self, ApiError> {
        let upstream = turn.upstream()?;
        Ok(Self { turn, upstream, opened: Opened::from_request(turn).await? })
    }
}

/// The place of an open turn. It goes through all stages, so it is on the heap.
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
    /// The transcript up to the cursor, if it was loaded with the response before it.
    loaded: Option<Box<Transcript>>,
    /// The state of the store before the transcript is loaded; `None` if the store keeps no
    /// transcripts in memory.
    pub(super) version: Option<StoreVersion>,
    /// The place to which the commit appends the items.
    pub(super) destination: Destination,
    /// The turn's hold on the conversation, until the commit.
    hold: Option<ConversationHold>,
    /// The entry of the response among the open turns. It is dropped before the lock.
    entry: OpenResponse,
    /// The hold on the response itself, for as long.
    _response: ResponseLock,
}

/// A turn's hold on its conversation.
struct ConversationHold {
    /// The entry among the open turns. It is dropped before the lease.
    turn: OpenTurn,
    lease: Lease,
}

impl Opened {
    /// Opens a turn where its request continues.
    async fn from_request(turn: &Turn<'_>) -> Result<Box<Self>, ApiError> {
        match &turn.request.continues {
            Continues::Nothing => Self::on_new_thread(turn).await,
            Continues::Response(id) => Self::after_response(turn, id).await,
            Continues::Conversation(text) => {
                let unknown = || turn.gateway.conversation_not_found(text);
                let id = ConversationId::parse(text).ok_or_else(unknown)?;
                Self::in_conversation(turn, id, unknown).await
            }
        }
    }

    /// Opens a turn on a new thread.
    pub(super) async fn on_new_thread(turn: &Turn<'_>) -> Result<Box<Self>, ApiError> {
        let shard = turn.shard_of_request().await?;
        let thread = ThreadId::issue(&mut RandomIds);
        Self::new(turn, shard, None, Destination::New { shard, thread }).await
    }

    /// Continues a response. If the turn of that response is still open, because its client has
    /// just disconnected, waits for its end.
    async fn after_response(turn: &Turn<'_>, text: &str) -> Result<Box<Self>, ApiError> {
        let unknown = || turn.gateway.previous_response_not_found(text);
        let id = ResponseId::parse(text).ok_or_else(unknown)?;
        if let Some(remembered) = lane::recall(turn, text) {
            return Self::after_remembered(turn, &id, remembered).await;
        }
        let Some((end, loaded)) = turn.wait_for_end(&id).await? else {
            // A turn of another lane may have ended in the meantime.
            let remembered = lane::recall(turn, text).ok_or_else(unknown)?;
            return Self::after_remembered(turn, &id, remembered).await;
        };
        let fork = ThreadId::issue(&mut RandomIds);
        let (shard, cursor) = (id.shard(), end.cursor);
        let end_of = end.is_in_conversation.then_some(id);
        let destination = Destination::After { cursor, fork, end_of };
        let mut opened = Self::new(turn, shard, Some(cursor), destination).await?;
        opened.loaded = loaded.map(Box::new);
        Ok(opened)
    }

    /// Continues a response that only the connection remembers. A chain is stored in full or not at
    /// all, so a stored turn cannot continue it.
    async fn after_remembered(
        turn: &Turn<'_>,
        id: &ResponseId,
        remembered: Arc<Transcript>,
    ) -> Result<Box<Self>, ApiError> {
        if turn.request.store {
            return Err(ApiError::PreviousResponseNotStored { id: id.as_str().into() });
        }
        let destination =
            Destination::New { shard: id.shard(), thread: ThreadId::issue(&mut RandomIds) };
        let mut opened = Self::new(turn, id.shard(), None, destination).await?;
        opened.remembered = Some(remembered);
        Ok(opened)
    }

    /// Continues a conversation of the store, as its only open turn.
    pub(super) async fn in_conversation(
        turn: &Turn<'_>,
        id: ConversationId,
        unknown: impl FnOnce() -> ApiError,
    ) -> Result<Box<Self>, ApiError> {
        let tenant = &turn.caller.tenant;
        let lease = turn.clock.wait(turn.leases.lease_conversation(tenant, &id)).await?;
        let lease = lease.ok_or(ApiError::ConversationLocked)?;
        let entry = turn.gateway.open_turns.register(tenant, &id);
        let found = turn.gateway.store.conversation(tenant, &id).await?;
        let (_, cursor) = found.ok_or_else(unknown)?;
        let destination = Destination::Conversation(id.clone());
        let mut opened = Self::new(turn, id.shard(), Some(cursor), destination).await?;
        entry.set_response(&opened.response_id);
        opened.conversation = Some(id);
        opened.hold = Some(ConversationHold { turn: entry, lease });
        Ok(opened)
    }

    /// Opens a turn at this cursor, outside a conversation.
    pub(super) async fn new(
        turn: &Turn<'_>,
        shard: Shard,
        cursor: Option<Cursor>,
        destination: Destination,
    ) -> Result<Box<Self>, ApiError> {
        let announced = turn.announced.clone().unwrap_or_else(|| Announced::now(shard));
        let Announced { id: response_id, created_at } = announced;
        let locking = turn.leases.lock_response(&turn.caller.tenant, &response_id);
        let response = turn.clock.wait(locking).await;
        let response = response.ok_or(ApiError::ConversationLocked)?;
        let entry = turn.gateway.open_turns.register_response(&turn.caller.tenant, &response_id);
        Ok(Box::new(Self {
            response_id,
            created_at,
            conversation: None,
            cursor,
            remembered: None,
            loaded: None,
            version: turn.gateway.store.hot_transcripts().map(HotTranscripts::version),
            destination,
            hold: None,
            entry,
            _response: response,
        }))
    }

    /// Moves the turn to the conversation's current end after its items were resynced.
    pub(super) async fn move_to_current_end(&mut self, turn: &Turn<'_>) -> Result<(), ApiError> {
        let Some(id) = &self.conversation else { return Ok(()) };
        let found = turn.gateway.store.conversation(&turn.caller.tenant, id).await?;
        let (_, cursor) = found.ok_or(ApiError::ConversationDeleted)?;
        self.cursor = Some(cursor);
        Ok(())
    }

    /// The transcript that the turn continues: remembered by its connection, or stored.
    pub(super) async fn load_transcript(
        &mut self,
        turn: &Turn<'_>,
    ) -> Result<Transcript, ApiError> {
        if let Some(loaded) = self.loaded.take() {
            return Ok(*loaded);
        }
        match &self.remembered {
            Some(remembered) => Ok(lane::erase_deleted(turn, remembered).await?),
            None => match self.cursor.and_then(|cursor| hot::take(turn, cursor)) {
                Some(kept) => Ok(kept),
                None => turn.load(self.cursor).await,
            },
        }
    }

    /// Fails if the new items of the turn exceed a quota. `held` are the items before them. A turn
    /// that stores nothing always passes.
    pub(super) async fn check_quotas(
        &self,
        turn: &Turn<'_>,
        held: &[HeldItem],
        fresh: &[HeldItem],
    ) -> Result<(), ApiError> {
        if !turn.stores_items() {
            return Ok(());
        }
        let added = Usage::from_items(fresh);
        if self.conversation.is_some() {
            turn.gateway.quotas().check_conversation(held, added)?;
        }
        turn.gateway.quotas().check_tenant(&turn.caller.tenant, added).await
    }

    /// The record of the response.
    pub(super) fn new_response(&self, envelope: Bytes, report: &Report) -> NewResponse {
        NewResponse {
            id: self.response_id.clone(),
            conversation: self.conversation.clone(),
            created_at: self.created_at,
            envelope,
            report: report.to_json().into(),
            copy: None,
        }
    }

    /// The envelope of the response.
    pub(super) fn envelope(&self, fields: &Object<'_>) -> Envelope {
        let conversation = self.conversation.as_ref().map(ConversationId::as_str);
        Envelope::new(self.response_id.as_str(), self.created_at, fields, conversation)
    }

    /// The turn's place in the conversation's queue, which the commit checks.
    pub(super) fn place(&self) -> Option<QueuePlace> {
        self.hold.as_ref().and_then(|hold| hold.lease.place())
    }

    /// Whether the turn starts exactly at the end of this response.
    pub(super) fn begins_after(&self, record: &ResponseRecord) -> bool {
        self.cursor == Some(record.cursor)
    }

    /// Whether the items of this response are on the thread that the turn appends to.
    pub(super) fn is_on_thread_of(&self, record: &ResponseRecord) -> bool {
        self.cursor.is_some_and(|cursor| {
            (cursor.shard, cursor.thread) == (record.cursor.shard, record.cursor.thread)
        })
    }

    /// The place for the items of a failed turn: a fork outside the conversation.
    pub(super) fn destination_apart(&self) -> Destination {
        match (&self.destination, self.cursor) {
            (Destination::Conversation(_), Some(cursor)) => {
                Destination::After { cursor, fork: ThreadId::issue(&mut RandomIds), end_of: None }
            }
            (destination, _) => destination.clone(),
        }
    }

    /// Closes the turn. The next turn of the conversation can then start, and so can turns that
    /// wait for the response.
    pub(super) async fn close(self: Box<Self>) {
        if let Some(ConversationHold { turn, lease }) = self.hold {
            drop(turn);
            lease.release().await;
        }
    }

    /// Waits until a request ends the turn.
    pub(super) fn ended(&self) -> impl Future<Output = ()> {
        self.entry.cancelled()
    }

    /// Waits until the turn's conversation is deleted; never returns without a conversation.
    pub(super) async fn conversation_deleted(&self) {
        match &self.hold {
            Some(hold) => hold.turn.cancelled().await,
            None => std::future::pending().await,
        }
    }
}
