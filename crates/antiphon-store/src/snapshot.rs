//! A consistent read of the whole store, as of one moment.

use std::ops::{Add, AddAssign, Range};

use antiphon::HeldItem;
use async_trait::async_trait;
use bytes::Bytes;

use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::ledger_records::LedgerEntry;
use crate::records::{Conversation, Cursor, ResponseRecord, Seq, TurnRecord};
use crate::restore::ThreadRecord;
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// The contents of a store at the moment the snapshot was taken. Later writes do not show.
///
/// A snapshot changes nothing, and no process waits for it. While it is open, the database retains
/// the data that others delete. Each call returns a bounded amount: lists come in pages, and items
/// a few megabytes at a time, or a single larger item.
#[async_trait]
pub trait Snapshot: Send {
    /// The next tenant after this one, by name, that has any data.
    async fn next_tenant(&mut self, after: Option<&Tenant>) -> Result<Option<Tenant>>;

    /// The amount of data of a tenant.
    async fn count_data(&mut self, tenant: &Tenant) -> Result<DataCounts>;

    /// The number of live items of a tenant, and their bytes, as
    /// [`Store::usage`](crate::Store::usage) counts them.
    async fn usage(&mut self, tenant: &Tenant) -> Result<Usage>;

    /// The value under this name. See
    /// [`Store::value_or_insert`](crate::Store::value_or_insert).
    async fn value(&mut self, name: &'static str) -> Result<Option<Bytes>>;

    /// A page of the conversations after this one. Empty at the end.
    async fn conversations(
        &mut self,
        tenant: &Tenant,
        after: Option<&ConversationId>,
    ) -> Result<Vec<ListedConversation>>;

    /// A page of the responses after this one. Empty at the end.
    async fn responses(
        &mut self,
        tenant: &Tenant,
        after: Option<&ResponseId>,
    ) -> Result<Vec<ResponseId>>;

    /// A response's record.
    async fn response(
        &mut self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Result<Option<ResponseRecord>>;

    /// A page of the ledgers after this provider id, in an order of the store's choice. Empty at
    /// the end.
    async fn ledgers(
        &mut self,
        tenant: &Tenant,
        after: Option<&str>,
    ) -> Result<Vec<(String, LedgerEntry)>>;

    /// A page of the pending turns after this one. Empty at the end.
    async fn pending_turns(
        &mut self,
        tenant: &Tenant,
        after: Option<&ResponseId>,
    ) -> Result<Vec<ResponseId>>;

    /// A pending turn.
    async fn pending_turn(
        &mut self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Result<Option<TurnRecord>>;

    /// The record of a thread.
    async fn thread(
        &mut self,
        tenant: &Tenant,
        of: (Shard, ThreadId),
    ) -> Result<Option<ThreadRecord>>;

    /// The items of a thread from the start of this range on, tombstones included. Empty if no more
    /// follow.
    async fn items(
        &mut self,
        tenant: &Tenant,
        of: (Shard, ThreadId),
        range: Range<Seq>,
    ) -> Result<Vec<(Seq, HeldItem)>>;

    /// The items after this place that belong to no conversation and no response, and that the
    /// store retains because other threads continue from them. Also returns the place that the
    /// search has reached, `None` at the end.
    async fn loose_items(
        &mut self,
        tenant: &Tenant,
        after: Option<ItemPlace>,
    ) -> Result<LooseItems>;
}

/// The state of the store that a URL names.
pub enum StoreState {
    /// No tables yet. The first gateway that starts on it creates them.
    Absent,
    /// Tables of an earlier release. The next gateway that starts on it migrates them.
    Outdated,
    /// Tables of this release, and a snapshot of them.
    Current(Box<dyn Snapshot>),
}

/// Items of no conversation or response, and the last place that the search has reached.
pub(crate) type LooseItems = (Vec<(ItemPlace, HeldItem)>, Option<ItemPlace>);

/// A conversation in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedConversation {
    /// Its record.
    pub conversation: Conversation,
    /// The end of its thread.
    pub end: Cursor,
    /// Whether it began without an upstream ([`Binding`](crate::Binding)).
    pub binds_late: bool,
}

/// The position of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemPlace {
    /// The shard of its thread.
    pub shard: Shard,
    /// Its thread.
    pub thread: ThreadId,
    /// Its position there.
    pub seq: Seq,
}

/// The amount of data of a tenant: stored, or deleted by one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataCounts {
    /// Conversations.
    pub conversations: u64,
    /// Responses.
    pub responses: u64,
    /// Pending turns.
    pub pending_turns: u64,
    /// Ledgers: names of the conversations and responses that providers store.
    pub ledgers: u64,
    /// Items. An item that several responses share counts once. Items whose bytes a provider stores
    /// are included.
    pub items: u64,
    /// Tombstones of deleted items.
    pub deleted_items: u64,
    /// All other entries: threads, places in queues, and rows that serve look-ups.
    pub others: u64,
}

impl DataCounts {
    /// Whether all counts are zero.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl Add for DataCounts {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            conversations: self.conversations + more.conversations,
            responses: self.responses + more.responses,
            pending_turns: self.pending_turns + more.pending_turns,
            ledgers: self.ledgers + more.ledgers,
            items: self.items + more.items,
            deleted_items: self.deleted_items + more.deleted_items,
            others: self.others + more.others,
        }
    }
}

impl AddAssign for DataCounts {
    fn add_assign(&mut self, more: Self) {
        *self = *self + more;
    }
}

/// The maximum number of entries on a page.
pub(crate) const PAGE: i64 = 256;

/// The number of positions that one search for loose items examines.
pub(crate) const STRIDE: i64 = 4096;

/// The maximum number of bytes of items that one call returns, unless a single item has more.
pub(crate) const BYTES: usize = 4 << 20;
