//! Restores the objects of an export: threads, conversations, responses and their items, at the
//! positions that they had.
//!
//! The items of one object come through an [`ItemFeed`] with a bound, so a conversation of any
//! length is restored in one transaction without being in memory.

use std::collections::BTreeMap;

use antiphon::{HeldItem, ItemId};
use async_trait::async_trait;
use tokio::sync::mpsc;

use crate::error::StoreError;
use crate::ids::{Shard, Tenant, ThreadId};
use crate::ledger_records::{LedgerSubject, UpstreamId};
use crate::records::{Conversation, ResponseRecord, Seq};
use crate::usage::Usage;

/// The number of batches that wait in a feed.
const FEED: usize = 2;

/// Writes the objects of an export.
#[async_trait]
pub trait Restorer: Send + Sync {
    /// Restores an object with its thread and its items: all of it, or nothing. An object that the
    /// store has already stays as it is. So does each item that is at its position already.
    ///
    /// Fails with [`StoreError::Conflict`] if the store has something else in its place, with
    /// [`StoreError::QuotaExceeded`] if the feed has no room for its items, and with
    /// [`StoreError::RestoreCancelled`] if the feed ends without [`ItemSender::finish`].
    async fn restore(
        &self,
        tenant: &Tenant,
        thread: ThreadRecord,
        object: RestoredObject,
        items: ItemFeed,
    ) -> Result<Restored, StoreError>;

    /// Restores the name of a conversation or response at a provider. The ledger is stale: it is
    /// synced before its next turn.
    async fn restore_ledger(
        &self,
        tenant: &Tenant,
        named: UpstreamId,
        subject: LedgerSubject,
    ) -> Result<Restored, StoreError>;
}

/// A thread, without its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRecord {
    /// Its shard.
    pub shard: Shard,
    /// Its id.
    pub thread: ThreadId,
    /// The threads that it continues, root first, each with the position up to which it counts.
    pub lineage: Vec<(ThreadId, Seq)>,
    /// One past the greatest position that was ever used.
    pub tip: Seq,
    /// Whether a conversation names it, or did so in the past.
    pub is_named: bool,
}

impl ThreadRecord {
    /// The first position: the point at which it left its parent.
    pub fn base(&self) -> Seq {
        self.lineage.last().map_or(0, |(_, upto)| *upto)
    }

    /// The thread that it forks from.
    pub fn parent(&self) -> Option<ThreadId> {
        self.lineage.last().map(|(parent, _)| *parent)
    }

    /// Selects the items of `batch` that the store lacks. `held` has those at the same positions,
    /// and `tip` is that of the stored thread, if there was one.
    pub(crate) fn select_missing(
        &self,
        batch: Vec<(Seq, HeldItem)>,
        held: &BTreeMap<Seq, ItemId>,
        tip: Option<Seq>,
    ) -> Result<Vec<(Seq, HeldItem)>, StoreError> {
        let mut missing = Vec::new();
        for (seq, item) in batch {
            match held.get(&seq) {
                Some(id) if *id == item.id => {}
                Some(id) => return Err(other_item(&item.id, id)),
                None if tip.is_some_and(|tip| tip != self.tip) => return Err(changed(&item.id)),
                None => missing.push((seq, item)),
            }
        }
        Ok(missing)
    }
}

fn other_item(given: &ItemId, held: &ItemId) -> StoreError {
    StoreError::Conflict(format!("the store has the item '{held}' at the position of '{given}'"))
}

fn changed(given: &ItemId) -> StoreError {
    StoreError::Conflict(format!(
        "the store has this thread in another state, without the item '{given}'"
    ))
}

/// The object that a thread's items belong to.
#[derive(Clone, Debug, PartialEq)]
pub enum RestoredObject {
    /// A conversation, which names the thread.
    Conversation {
        /// Its record.
        conversation: Conversation,
        /// Whether it began without an upstream ([`Binding`](crate::Binding)).
        binds_late: bool,
    },
    /// A response, which is a range of the thread.
    Response(ResponseRecord),
    /// Items of no conversation or response.
    LooseItems,
}

/// The result of a restoration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The object was written.
    Created,
    /// The store had it already.
    Exists,
}

/// The error for a conversation's id that is in use.
pub(crate) fn other_conversation() -> StoreError {
    StoreError::Conflict("the store has another conversation with this id".into())
}

/// The error for a provider's id that is in use.
pub(crate) fn other_ledger() -> StoreError {
    StoreError::Conflict("the provider's id stands for another object in this store".into())
}

/// Creates a feed. The store may add at most `room` to the data of the tenant; items that it has
/// already do not count.
pub fn item_feed(room: Usage) -> (ItemSender, ItemFeed) {
    let (batches, feed) = mpsc::channel(FEED);
    (ItemSender { batches }, ItemFeed { batches: feed, is_begun: false, room })
}

#[derive(Debug)]
enum Batch {
    Items(Vec<(Seq, HeldItem)>),
    End,
}

/// The end of a feed that items go into. Dropping it cancels the restoration.
#[derive(Debug)]
pub struct ItemSender {
    batches: mpsc::Sender<Batch>,
}

impl ItemSender {
    /// Sends items in the order of their positions. Returns whether the store still reads them.
    pub async fn send(&self, items: Vec<(Seq, HeldItem)>) -> bool {
        items.is_empty() || self.batches.send(Batch::Items(items)).await.is_ok()
    }

    /// Sends the end: the store commits.
    pub async fn finish(self) {
        // A store that reads no more has its reason, which `restore` returns.
        let _ = self.batches.send(Batch::End).await;
    }
}

/// The items of an object, in batches.
#[derive(Debug)]
pub struct ItemFeed {
    batches: mpsc::Receiver<Batch>,
    is_begun: bool,
    /// The amount that may still be added.
    room: Usage,
}

impl ItemFeed {
    /// Counts the items that the store is about to add. Fails if there is no room for them.
    pub(crate) fn count(&mut self, missing: &[(Seq, HeldItem)]) -> Result<(), StoreError> {
        let added = Usage::from_items(missing.iter().map(|(_, item)| item));
        self.room.items =
            self.room.items.checked_sub(added.items).ok_or(StoreError::QuotaExceeded("items"))?;
        self.room.bytes =
            self.room.bytes.checked_sub(added.bytes).ok_or(StoreError::QuotaExceeded("bytes"))?;
        Ok(())
    }

    /// Marks the feed as read. Fails if an earlier attempt has read from it: its items are gone.
    pub(crate) fn begin(&mut self) -> Result<(), StoreError> {
        match std::mem::replace(&mut self.is_begun, true) {
            false => Ok(()),
            true => Err(StoreError::NoSpace("the transaction could not be repeated".into())),
        }
    }

    /// The next batch; `None` at the end. For threads outside a runtime.
    pub(crate) fn blocking_next(&mut self) -> Result<Option<Vec<(Seq, HeldItem)>>, StoreError> {
        read(self.batches.blocking_recv())
    }

    /// The next batch; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<(Seq, HeldItem)>>, StoreError> {
        read(self.batches.recv().await)
    }
}

fn read(batch: Option<Batch>) -> Result<Option<Vec<(Seq, HeldItem)>>, StoreError> {
    match batch {
        Some(Batch::Items(items)) => Ok(Some(items)),
        Some(Batch::End) => Ok(None),
        None => Err(StoreError::RestoreCancelled),
    }
}
