//! Lists of a tenant's data, newest first, for an inspector.
//!
//! All threads of a tree of forks are in one shard, so a [`Tree`] is read by its shard. A list
//! examines a bounded number of entries, also those of other tenants, and names the position that
//! it has reached.

use async_trait::async_trait;

use antiphon::HeldItem;

use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::ledger_records::LedgerEntry;
use crate::records::{Conversation, ResponseRecord, Seq};
use crate::restore::ThreadRecord;
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// The number of entries that one call examines.
pub(crate) const EXAMINED: i64 = 1024;

/// The maximum number of threads, and of segments, of a [`Tree`].
pub(crate) const MAX_TREE: usize = 50_000;

/// Lists the data of a tenant. All calls only read. Each call sees the writes that returned before.
#[async_trait]
pub trait Listings: Send + Sync {
    /// The newest responses before this position, by the time of their creation. Examines a bounded
    /// number of responses of all tenants, so a page can be empty and still not be the last.
    async fn newest_responses(
        &self,
        tenant: &Tenant,
        before: Option<Recency>,
    ) -> Result<NewestPage<ListedResponse>>;

    /// The newest conversations before this position, by the time of their creation.
    async fn newest_conversations(
        &self,
        tenant: &Tenant,
        before: Option<(i64, ConversationId)>,
        limit: usize,
    ) -> Result<Vec<Conversation>>;

    /// The threads and turns of a shard.
    async fn tree(&self, tenant: &Tenant, shard: Shard) -> Result<Tree>;

    /// The responses of a thread that begin at positions from `from` to `to`, in order, at most
    /// `limit`.
    async fn thread_responses(
        &self,
        tenant: &Tenant,
        of: (Shard, ThreadId),
        range: (Seq, Seq),
        limit: usize,
    ) -> Result<Vec<ResponseRecord>>;

    /// A response's record.
    async fn response_record(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Result<Option<ResponseRecord>>;

    /// The first items of a range of a thread, tombstones included: at most a few hundred, and a
    /// few megabytes, unless a single item has more. Empty if no more follow.
    async fn thread_items(
        &self,
        tenant: &Tenant,
        of: (Shard, ThreadId),
        range: (Seq, Seq),
    ) -> Result<Vec<(Seq, HeldItem)>>;

    /// A page of the ledgers after this provider's id, in an order of the store's choice. Empty at
    /// the end.
    async fn ledgers_after(
        &self,
        tenant: &Tenant,
        after: Option<&str>,
    ) -> Result<Vec<(String, LedgerEntry)>>;

    /// The ledger for this id of a provider.
    async fn ledger(&self, tenant: &Tenant, provider_id: &str) -> Result<Option<LedgerEntry>>;
}

/// The position of a response in the list of the newest: its time, in Unix seconds, and the number
/// of its segment. The greater one is newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recency {
    /// The time of the response's creation.
    pub created_at: i64,
    /// The number of its segment.
    pub number: i64,
}

impl Recency {
    /// The position after all responses.
    pub(crate) const LATEST: Self = Self { created_at: i64::MAX, number: i64::MAX };
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct NewestPage<T> {
    /// The entries, newest first.
    pub entries: Vec<T>,
    /// The position that the page has reached; `None` at the end of the list.
    pub next: Option<Recency>,
}

/// A response in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedResponse {
    /// Its id.
    pub id: ResponseId,
    /// The conversation that it belongs to, which may be deleted.
    pub conversation: Option<ConversationId>,
    /// Its position in the list.
    pub recency: Recency,
}

/// The threads of a shard, with the turns that are stored and those that are open. A shard has one
/// tree of forks, or the trees of several equal requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// The threads.
    pub threads: Vec<ListedThread>,
    /// The segments, in the order of their threads and positions.
    pub segments: Vec<ListedSegment>,
    /// The ledgers with their providers' ids.
    pub ledgers: Vec<(String, LedgerEntry)>,
    /// The open turns of all processes.
    pub open_turns: Vec<ListedOpenTurn>,
    /// The open background responses of all processes.
    pub jobs: Vec<ResponseId>,
    /// The places in the queues of conversations, if processes share the store: the conversation
    /// and the number of its places.
    pub queued: Vec<(ConversationId, usize)>,
    /// Whether all threads and segments are here.
    pub is_whole: bool,
}

/// A thread in a [`Tree`].
#[derive(Clone, Debug, PartialEq)]
pub struct ListedThread {
    /// The thread.
    pub record: ThreadRecord,
    /// The conversation that names it.
    pub conversation: Option<Conversation>,
}

/// Consecutive items of a thread that were appended together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSegment {
    /// The thread.
    pub thread: ThreadId,
    /// The position of the first item.
    pub first: Seq,
    /// The number of items, tombstones included.
    pub held: u64,
    /// The live items.
    pub live: Usage,
    /// The response that begins here.
    pub response: Option<ListedTurn>,
}

/// A response in a [`Tree`]. Its input begins with its segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTurn {
    /// The response.
    pub listed: ListedResponse,
    /// The position of the first item of its output.
    pub output_from: Seq,
    /// One past the last item of its output.
    pub end: Seq,
}

/// An open turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedOpenTurn {
    /// Its response.
    pub response: ResponseId,
    /// The conversation that its items go to.
    pub conversation: Option<ConversationId>,
    /// The thread that it continues, if no conversation names it.
    pub thread: Option<ThreadId>,
    /// Unix seconds.
    pub created_at: i64,
}
