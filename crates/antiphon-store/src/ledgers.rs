//! Ledgers: records of the conversations and responses that a provider stores.
//!
//! A ledger is a thread whose items have no bodies in this store
//! ([`StoredElsewhere`](antiphon::Body::StoredElsewhere)). Its conversation or response has an
//! internal id, which clients never see. The store maps the provider's id to it.

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Tenant, ThreadId};
use crate::ledger_records::{Binding, LedgerEntry, LedgerSubject, UpstreamId};
use crate::records::{Conversation, QueuePlace};

type Result<T> = std::result::Result<T, StoreError>;

/// Stores the ledgers of provider-side conversations and responses.
///
/// ```text
///   adopt, announce ──> stale ── commit of a whole turn, resync, mark_fresh ──> fresh
///                         ↑                                                        │
///                         └─────────────────────── mark_stale ─────────────────────┘
/// ```
///
/// A ledger is stale ([`LedgerEntry::is_stale`]) while the provider may hold other items than the
/// ledger lists.
///
/// A name stands for one conversation or response, the last one it was given to. The previous one
/// is deleted as [`Store`](crate::Store) deletes it. Deleting a conversation or response also
/// deletes the name of its ledger, no matter which call deletes it.
///
/// Each call is atomic. The writes of `announce`, `mark_stale` and `mark_fresh` survive a crash of
/// the process; the writes of all other calls also survive a power cut.
#[async_trait]
pub trait Ledgers: Send + Sync {
    /// The ledger for this id of a provider.
    async fn entry(&self, tenant: &Tenant, provider_id: &str) -> Result<Option<LedgerEntry>>;

    /// The provider's id of this response, if it was announced or committed.
    async fn upstream_id(
        &self,
        tenant: &Tenant,
        response: &ResponseId,
    ) -> Result<Option<UpstreamId>>;

    /// Begins the ledger of a provider's conversation, empty and stale, unless the name is in use.
    /// Returns the ledger that the name stands for now: concurrent calls all get the same one.
    async fn adopt(
        &self,
        tenant: &Tenant,
        named: UpstreamId,
        conversation: Conversation,
        thread: ThreadId,
    ) -> Result<LedgerEntry>;

    /// Records the provider's id of the response of an open turn that will leave a record. The
    /// ledger is stale until the turn is committed, and is deleted if the pending turn is dropped.
    /// A second call for the same response replaces the id.
    async fn announce(
        &self,
        tenant: &Tenant,
        named: UpstreamId,
        response: &ResponseId,
    ) -> Result<()>;

    /// Marks the conversation's ledger as stale. Called before a request that may change the
    /// provider's copy. Has no effect if there is no ledger of it.
    async fn mark_stale(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()>;

    /// Marks the ledger as fresh again after a request that changed nothing. Only a caller that
    /// found the ledger fresh before its request may call this.
    async fn mark_fresh(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<()>;

    /// Replaces the ledger's items by those that the provider lists. They go to a new thread,
    /// `thread`, so the ends of responses do not move. Items that nothing reaches any more are
    /// deleted.
    ///
    /// Fails if there is no ledger of such a conversation, if an item is given twice, or if `place`
    /// is no longer first in the conversation's queue: the list of a process that was presumed dead
    /// may be outdated.
    async fn resync(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        thread: ThreadId,
        items: Vec<HeldItem>,
        place: Option<QueuePlace>,
    ) -> Result<()>;

    /// Creates a conversation without an upstream, with its first items. Its first turn decides
    /// which upstream stores it ([`bind`](Ledgers::bind)), or that none does
    /// ([`bind_locally`](Ledgers::bind_locally)).
    async fn create_unbound(
        &self,
        tenant: &Tenant,
        conversation: Conversation,
        thread: ThreadId,
        items: Vec<HeldItem>,
    ) -> Result<()>;

    /// The binding of a conversation that began without an upstream. `None` for any other
    /// conversation, and for one that stays in this store.
    async fn binding(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
    ) -> Result<Option<Binding>>;

    /// Binds a conversation permanently to the provider's copy of it. From then on the provider
    /// stores its items and metadata: this store deletes them, and begins a stale ledger in
    /// `thread`. Returns `false`, and changes nothing, if the conversation is not
    /// [`Binding::Pending`] or was deleted. Fails if `place` is no longer first in the
    /// conversation's queue.
    async fn bind(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        named: UpstreamId,
        thread: ThreadId,
        place: Option<QueuePlace>,
    ) -> Result<bool>;

    /// Decides permanently that a conversation without an upstream stays in this store. Returns
    /// `false`, and changes nothing, if the conversation is not [`Binding::Pending`] or was
    /// deleted.
    async fn bind_locally(&self, tenant: &Tenant, conversation: &ConversationId) -> Result<bool>;

    /// Whether any tenant has a ledger.
    async fn has_any(&self) -> Result<bool>;

    /// Whether this is a ledger. Clients do not know a ledger by this id.
    async fn is_ledger(&self, tenant: &Tenant, subject: &LedgerSubject) -> Result<bool>;

    /// Those of these items that are live in any thread of the tenant and that a model generated,
    /// in the given order.
    async fn find_generated(&self, tenant: &Tenant, ids: &[ItemId]) -> Result<Vec<ItemId>>;

    /// Deletes the name and its ledger: the conversation, or the response's record and pending
    /// turn. Returns whether the name existed.
    async fn forget(&self, tenant: &Tenant, provider_id: &str) -> Result<bool>;

    /// Deletes the copies of turns that have expired at `now` (Unix seconds), and of each tenant
    /// the oldest ones beyond `max_bytes` in all. Returns their number.
    async fn expire_copies(&self, now: i64, max_bytes: u64) -> Result<usize>;
}
