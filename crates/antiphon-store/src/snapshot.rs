//! Everything that is held, as of one moment.

use std::ops::{Add, AddAssign, Range};

use antiphon::HeldItem;
use async_trait::async_trait;
use bytes::Bytes;

use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::ledger_records::LedgerEntry;
use crate::records::{Conversation, Cursor, ResponseRecord, Seq, Turn, fitting_into};
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// What a store held when the snapshot was taken, whatever is written since.
///
/// It takes no part in the store: no process waits for it, and it changes nothing. As long as it is
/// kept, the database keeps what was deleted since then, too. What is given is bounded: lists come
/// page by page, and items a few megabytes at a time, or one that is larger.
#[async_trait]
pub trait Snapshot: Send {
    /// The first tenant behind this one, by name, of whom anything is held.
    async fn next_tenant(&mut self, after: Option<&Tenant>) -> Result<Option<Tenant>>;

    /// How much is held of a tenant.
    async fn holdings(&mut self, tenant: &Tenant) -> Result<Holdings>;

    /// How many live items a tenant has, and their bytes, as [`Store::usage`](crate::Store::usage)
    /// counts them.
    async fn usage(&mut self, tenant: &Tenant) -> Result<Usage>;

    /// What is kept under this name for whoever opens the store.
    async fn kept(&mut self, name: &'static str) -> Result<Option<Bytes>>;

    /// A page of conversations behind this one, and where each ends. Empty at the end.
    async fn conversations(
        &mut self,
        tenant: &Tenant,
        after: Option<&ConversationId>,
    ) -> Result<Vec<(Conversation, Cursor)>>;

    /// A page of responses behind this one. Empty at the end.
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

    /// A page of ledgers behind this one, by what their providers call them, in an order of the store's.
    /// Empty at the end.
    async fn ledgers(
        &mut self,
        tenant: &Tenant,
        after: Option<&str>,
    ) -> Result<Vec<(String, LedgerEntry)>>;

    /// A page of the turns behind this one that are recorded as open. Empty at the end.
    async fn open_turns(
        &mut self,
        tenant: &Tenant,
        after: Option<&ResponseId>,
    ) -> Result<Vec<ResponseId>>;

    /// A turn that is recorded as open.
    async fn open_turn(&mut self, tenant: &Tenant, id: &ResponseId) -> Result<Option<Turn>>;

    /// The items of a thread from the beginning of this range on, tombstones included. Empty where
    /// there are no more.
    async fn items(
        &mut self,
        tenant: &Tenant,
        of: (Shard, ThreadId),
        range: Range<Seq>,
    ) -> Result<Vec<(Seq, HeldItem)>>;

    /// The items behind this place that are part of no conversation and of no response, and are held
    /// because others go on from behind them; and the place that was come to, `None` at the end.
    async fn loose_items(
        &mut self,
        tenant: &Tenant,
        after: Option<ItemPlace>,
    ) -> Result<(Vec<HeldItem>, Option<ItemPlace>)>;
}

/// Where an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemPlace {
    /// The shard of its thread.
    pub shard: Shard,
    /// Its thread.
    pub thread: ThreadId,
    /// Its position there.
    pub seq: Seq,
}

/// How much is held of a tenant, or was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Conversations.
    pub conversations: u64,
    /// Responses.
    pub responses: u64,
    /// Turns that are recorded as open.
    pub open_turns: u64,
    /// Ledgers: what providers call conversations and responses that they keep.
    pub ledgers: u64,
    /// Items, each once, of however many responses it is part. Those whose bytes a provider keeps are
    /// among them.
    pub items: u64,
    /// Items that were deleted, of which only their traces are held.
    pub deleted_items: u64,
    /// Everything else, by entries: threads, places in line, and what helps to find the others.
    pub others: u64,
}

impl Holdings {
    /// Whether it is nothing at all.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl Add for Holdings {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            conversations: self.conversations + more.conversations,
            responses: self.responses + more.responses,
            open_turns: self.open_turns + more.open_turns,
            ledgers: self.ledgers + more.ledgers,
            items: self.items + more.items,
            deleted_items: self.deleted_items + more.deleted_items,
            others: self.others + more.others,
        }
    }
}

impl AddAssign for Holdings {
    fn add_assign(&mut self, more: Self) {
        *self = *self + more;
    }
}

/// How many entries a page has at the most.
pub(crate) const PAGE: i64 = 256;

/// How many places are looked at for loose items at once.
pub(crate) const STRIDE: i64 = 4096;

/// How many bytes of items are given at once, unless one alone has more.
pub(crate) const BYTES: usize = 4 << 20;

/// How many things of these sizes are given at once: at least one.
pub(crate) fn fitting(sizes: impl Iterator<Item = usize>) -> usize {
    fitting_into(BYTES, sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_is_given_at_once_as_fits_but_never_nothing() {
        assert_eq!(fitting([BYTES + 1, 1].into_iter()), 1);
        assert_eq!(fitting([BYTES, 0, 1].into_iter()), 2);
        assert_eq!(fitting([1, 2, 3].into_iter()), 3);
        assert_eq!(fitting([usize::MAX, usize::MAX].into_iter()), 1);
    }
}
