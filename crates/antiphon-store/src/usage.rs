//! The amount of data of a tenant, or of one conversation.
//!
//! The store counts live items and the bytes of their bodies. A tombstone does not count. An item
//! whose bytes a provider stores counts as an item without bytes. A fork shares the items of its
//! lineage, so they count once; an item that is appended to two threads counts twice. Response
//! envelopes, metadata, events and pending turns do not count.
//!
//! The table `tenant_usage` has the count of each tenant, in one row, or in several in PostgreSQL.
//! In PostgreSQL, the statement that appends items updates it, and triggers on the table `segments`
//! do so for all other changes, each in the transaction that changes the items. In SQLite it lacks
//! the items of the last few turns, which are counted when it is read (`sqlite/summaries.rs`).
//! Reading the count reads no item. The count of a conversation is read from its segments.

use std::ops::Add;

use antiphon::{Body, HeldItem};

/// An amount of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The number of live items.
    pub items: u64,
    /// The bytes of their bodies, as far as this store has them.
    pub bytes: u64,
}

impl Usage {
    /// An amount that nothing exceeds.
    pub const UNLIMITED: Self = Self { items: u64::MAX, bytes: u64::MAX };

    /// The amount that storing these items would add.
    pub fn from_items<'a>(items: impl IntoIterator<Item = &'a HeldItem>) -> Self {
        items.into_iter().fold(Self::default(), |sum, item| sum + Self::from_item(item))
    }

    /// Converts two columns of a database, which are never negative.
    pub(crate) fn from_columns(items: i64, bytes: i64) -> Self {
        let count = |column: i64| u64::try_from(column).unwrap_or_default();
        Self { items: count(items), bytes: count(bytes) }
    }

    fn from_item(item: &HeldItem) -> Self {
        match &item.body {
            Body::Stored(bytes) => Self { items: 1, bytes: bytes.len() as u64 },
            Body::StoredElsewhere => Self { items: 1, bytes: 0 },
            Body::Erased => Self::default(),
        }
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            items: self.items.saturating_add(more.items),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }
}
