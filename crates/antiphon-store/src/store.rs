//! The contract of every store. One conformance suite tests all implementations.

use std::sync::Arc;

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;
use bytes::Bytes;

use crate::background::BackgroundJobs;
use crate::error::StoreError;
use crate::hot_transcripts::HotTranscripts;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant};
use crate::ledgers::Ledgers;
use crate::listings::Listings;
use crate::observer::{StoreLoad, StoreObserver};
use crate::records::{
    ClaimedNotice, Conversation, Cursor, ItemPage, ListScope, PageRequest, PriorTurn, QueuePlace,
    RequestDigest, ResponseRecord, TurnRecord,
};
use crate::restore::Restorer;
use crate::snapshot::DataCounts;
use crate::usage::Usage;
use crate::watches::Watches;

type Result<T> = std::result::Result<T, StoreError>;

/// Stores threads, conversations and responses.
///
/// Each call is atomic: all of it takes effect, or none of it. When a writing call returns `Ok`,
/// its data survives a crash of the process and a power cut. Exceptions are
/// [`Store::record_pending_turn`], [`Store::drop_pending_turn`], [`Store::expire_responses`],
/// [`Store::claim_notices`] and [`Store::settle_notice`]: their effect survives a crash of the
/// process, but not necessarily a power cut. Items are returned in order, with the bytes that were
/// given.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Returns the value stored under this name. If there is none, stores and returns `candidate`.
    /// Everyone who opens the store sees the same value.
    async fn value_or_insert(&self, name: &'static str, candidate: Bytes) -> Result<Bytes>;

    /// Replaces `old` by `new`. Returns whether `old` was the stored value.
    async fn replace_value(&self, name: &'static str, old: Bytes, new: Bytes) -> Result<bool>;

    /// Writes and commits a record that nobody reads, about as large and as durable as a small
    /// turn. Fails if turns cannot be stored.
    async fn check_writable(&self) -> Result<()>;

    /// The queues for the turns of conversations, if other processes can share this store. `None`
    /// if a single process owns it: a queue in its memory is enough then.
    fn lease_queue(&self) -> Option<&dyn LeaseQueue> {
        None
    }

    /// The transcripts of recent turns, if a single process owns this store.
    fn hot_transcripts(&self) -> Option<&HotTranscripts> {
        None
    }

    /// Sets the observer of the store's commits, once.
    fn set_observer(&self, _observer: Arc<dyn StoreObserver>) {}

    /// The current work of the store; `None` if it does not count it.
    fn load(&self) -> Option<StoreLoad> {
        None
    }

    /// The store's background responses.
    fn background_jobs(&self) -> &dyn BackgroundJobs;

    /// The store's records of conversations and responses that providers hold.
    fn ledgers(&self) -> &dyn Ledgers;

    /// The lists of the store's data, newest first.
    fn listings(&self) -> &dyn Listings;

    /// The store's watches: responses whose end is awaited.
    fn watches(&self) -> &dyn Watches;

    /// Writes the objects of an export.
    fn restorer(&self) -> &dyn Restorer;

    /// Creates a conversation with `items` as its first items.
    async fn create_conversation(
        &self,
        tenant: &Tenant,
        conversation: Conversation,
        thread: crate::ThreadId,
        items: Vec<HeldItem>,
    ) -> Result<()>;

    /// The conversation and the current end of its thread.
    async fn conversation(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
    ) -> Result<Option<(Conversation, Cursor)>>;

    /// Replaces a conversation's metadata. Returns `None` if it does not exist.
    async fn set_metadata(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        metadata: Bytes,
    ) -> Result<Option<Conversation>>;

    /// Deletes a conversation and the name of its ledger. Returns whether it existed. Its responses
    /// stay readable; items that no response and no fork reaches are deleted.
    async fn delete_conversation(&self, tenant: &Tenant, id: &ConversationId) -> Result<bool>;

    /// Appends items to a conversation: all of them, or none if the conversation has a live item
    /// with one of their ids.
    async fn append_items(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        items: Vec<HeldItem>,
    ) -> Result<()>;

    /// A page of live items. `None` if the scope does not exist.
    async fn list_items(
        &self,
        tenant: &Tenant,
        scope: &ListScope,
        page: &PageRequest,
    ) -> Result<Option<ItemPage>>;

    /// One live item of a conversation.
    async fn item(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        id: &ItemId,
    ) -> Result<Option<HeldItem>>;

    /// Deletes an item of a conversation. Returns whether it existed. Its bytes are erased for
    /// every fork that shares it; a tombstone (position, head, fingerprint) stays.
    async fn delete_item(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        id: &ItemId,
    ) -> Result<bool>;

    /// The shard for the thread that a request without an idempotency key begins at `now` (Unix
    /// seconds). `candidate` is a new shard for a first attempt, and `None` for a retry. A retry
    /// within the [`RETRY_WINDOW`](crate::RETRY_WINDOW) gets the shard of its first attempt, even
    /// if the process died in between.
    ///
    /// If several processes share the store, the shard is the one derived from the request.
    async fn shard_of_request(
        &self,
        _tenant: &Tenant,
        request: &RequestDigest,
        _candidate: Option<Shard>,
        _now: i64,
    ) -> Result<Shard> {
        Ok(request.shard())
    }

    /// The turns in `shard` that answer this request, at most `limit`. Open turns come first, then
    /// ended turns. Both are sorted newest first.
    async fn find_prior_turns(
        &self,
        tenant: &Tenant,
        shard: Shard,
        request: &RequestDigest,
        limit: usize,
    ) -> Result<Vec<PriorTurn>>;

    /// Retracts a conversation's last turn if it answers this request: the conversation returns to
    /// the point at which the turn began. The turn moves to a thread of its own, `fork`, so that
    /// its response can still be read and continued.
    ///
    /// Returns `false` if the last turn answers another request, if other items were appended after
    /// it, or if another turn already continues from it. Fails if `place` is no longer first in its
    /// queue: a process that was presumed dead cannot retract a turn of its successor.
    async fn retract(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        request: &RequestDigest,
        fork: crate::ThreadId,
        place: Option<QueuePlace>,
    ) -> Result<bool>;

    /// A response's record.
    async fn response(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<ResponseRecord>>;

    /// A response's record, and all items up to its end as [`Store::transcript`] returns them.
    async fn response_with_transcript(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Result<Option<(ResponseRecord, Vec<HeldItem>)>> {
        let Some(record) = self.response(tenant, id).await? else { return Ok(None) };
        let items = self.transcript(tenant, record.cursor).await?;
        Ok(Some((record, items)))
    }

    /// The live items in a response's output, in order. Empty if the response does not exist.
    async fn output_items(&self, tenant: &Tenant, id: &ResponseId) -> Result<Vec<HeldItem>>;

    /// Deletes a response's record and the name of its ledger. Returns whether it existed. Its
    /// items are deleted once no live response, conversation or fork reaches them.
    async fn delete_response(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool>;

    /// Deletes the oldest responses of all tenants that were created before this time (Unix
    /// seconds), at most `limit`, each as [`Store::delete_response`] does. Returns the number of
    /// deleted responses. A power cut may undo the deletion.
    async fn expire_responses(&self, created_before: i64, limit: usize) -> Result<usize>;

    /// All items before `cursor`, those of its lineage first, tombstones included.
    async fn transcript(&self, tenant: &Tenant, cursor: Cursor) -> Result<Vec<HeldItem>>;

    /// For each of these items whose bytes the tenant has in this store: its newest live copy, or
    /// the newest tombstone if none is live. In no particular order. An item that is live only at a
    /// provider is left out: the store has no bytes to send for it, and it was not deleted.
    async fn locate(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<HeldItem>>;

    /// Records the turn to commit if the process dies before the turn ends. `turn` has a response
    /// and no output. The record survives a crash of the process, but not necessarily a power cut.
    /// Committing a turn with the same response id replaces it.
    async fn record_pending_turn(&self, tenant: &Tenant, turn: TurnRecord) -> Result<()>;

    /// Returns whether this response has a pending turn or an open background job. A pending turn
    /// whose process died is settled first, and is then no longer open.
    async fn is_open(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool>;

    /// Deletes a pending turn that leaves no record, and the provider's id of its response.
    async fn drop_pending_turn(&self, tenant: &Tenant, id: &ResponseId) -> Result<()>;

    /// Commits every pending turn that a former process left, in the order in which they were
    /// recorded. Returns their number. A turn that can no longer be committed (its conversation was
    /// deleted) is dropped. A ledger that such a turn is committed to becomes stale.
    async fn settle_pending_turns(&self) -> Result<usize>;

    /// Commits a turn. Rejects the whole turn if its thread already has a live item with the id of
    /// one of its items, or if its `place` is no longer first in its queue.
    async fn commit_turn(&self, tenant: &Tenant, turn: TurnRecord) -> Result<()>;

    /// The number of live items of a tenant, and their bytes. Reads no item and waits for no
    /// writer, so the count may lack calls that have not returned.
    async fn usage(&self, tenant: &Tenant) -> Result<Usage>;

    /// The same for one conversation, counted from its own items. Zero if it does not exist.
    async fn conversation_usage(&self, tenant: &Tenant, id: &ConversationId) -> Result<Usage>;

    /// Deletes at most `limit` entries of a tenant's data, tombstones included, and returns their
    /// counts. All counts are zero once nothing is left. Entries that name others are deleted
    /// first, so that a reader never finds incomplete data.
    ///
    /// Turns that began before `now` (Unix seconds) and are still open in other processes fail with
    /// [`StoreError::Erased`] when they are committed.
    async fn erase(&self, tenant: &Tenant, now: i64, limit: usize) -> Result<DataCounts>;

    /// Closes the store as [`Store::close`] does, and removes all deleted data from its files. A
    /// database that several processes share does so by itself, in its own time.
    async fn close_rewritten(&self) -> Result<()> {
        self.close().await;
        Ok(())
    }

    /// Claims the notices that are due at `now`, and holds the claims until `until`, both in Unix
    /// seconds: the longest due first, at most `limit`. If several processes claim at once, each
    /// notice goes to one of them. A notice that is not settled before `until` is due again. A
    /// notice of an open turn is not due.
    async fn claim_notices(&self, now: i64, until: i64, limit: usize)
    -> Result<Vec<ClaimedNotice>>;

    /// Settles a claim. The notice is due again at `then` (Unix seconds), or is deleted if `then`
    /// is `None`. Has no effect if the claim has expired and the notice was claimed again.
    async fn settle_notice(&self, claimed: &ClaimedNotice, then: Option<i64>) -> Result<()>;

    /// Waits for accepted writes to finish, and closes the files.
    async fn close(&self);
}

/// A queue that decides which process runs the next turn of a conversation: the first in it.
///
/// Each place belongs to a process. If the process stops reporting that it is alive, the queue
/// skips and removes its places. A later commit from such a place fails with
/// [`StoreError::LeaseLost`].
#[async_trait]
pub trait LeaseQueue: Send + Sync {
    /// Takes the last place.
    async fn join(&self, tenant: &Tenant, id: &ConversationId) -> Result<QueuePlace>;

    /// Whether this place is the first. Fails with [`StoreError::LeaseLost`] if the place was
    /// removed.
    async fn is_first(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        place: QueuePlace,
    ) -> Result<bool>;

    /// Gives up the place, first or not.
    async fn leave(&self, tenant: &Tenant, id: &ConversationId, place: QueuePlace) -> Result<()>;
}
