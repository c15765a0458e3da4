//! How much a tenant, or one conversation, has in a store.
//!
//! The store counts live items and the bytes of their bodies. A tombstone does not count. An item
//! whose bytes a provider has counts as an item without bytes. A fork shares the items of its lineage,
//! so they count once; an item that is appended to two threads counts twice. Response envelopes,
//! metadata, events and open turns do not count.
//!
//! The count of a tenant is a row of the table `tenant_usage`, in PostgreSQL several. Triggers on the
//! table `items` change it in the transaction that changes the items, so that no path can forget it,
//! not even that of an earlier release beside this one. Reading it reads no item. The count of a
//! conversation is read from its own items.

use std::ops::Add;

use antiphon::{Body, HeldItem};

/// An amount of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many live items.
    pub items: u64,
    /// The bytes of their bodies, as far as the store has them.
    pub bytes: u64,
}

impl Usage {
    /// The amount that these items would add to a store.
    pub fn from_items<'a>(items: impl IntoIterator<Item = &'a HeldItem>) -> Self {
        items.into_iter().fold(Self::default(), |sum, item| sum + Self::from_item(item))
    }

    /// The columns of a database, which are not negative.
    pub(crate) fn from_columns(items: i64, bytes: i64) -> Self {
        let count = |column: i64| u64::try_from(column).unwrap_or_default();
        Self { items: count(items), bytes: count(bytes) }
    }

    fn from_item(item: &HeldItem) -> Self {
        match &item.body {
            Body::Here(bytes) => Self { items: 1, bytes: bytes.len() as u64 },
            Body::Elsewhere => Self { items: 1, bytes: 0 },
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
