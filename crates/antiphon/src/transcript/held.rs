//! One item as its owner holds it.

use std::sync::Arc;

use bytes::Bytes;

use crate::item::{Fingerprint, FingerprintKey, Head, Item, ItemId};

/// Where an output item was made: upstream and model family, as the gateway names them. Encrypted
/// content goes back only to its origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin(Arc<str>);

impl Origin {
    /// An origin by its name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An item of a transcript: its bytes, what is known of them without reading them again, and the id
/// under which it is held.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldItem {
    /// The id under which it is held: its own, or one that was issued when it came without.
    pub id: ItemId,
    /// The head of the bytes. Its `id` is absent where the bytes carry none.
    pub head: Head,
    /// What a message says; `None` for other kinds.
    pub fingerprint: Option<Fingerprint>,
    /// Who made it; `None` for what its caller sent.
    pub origin: Option<Origin>,
    /// For instructions: whether it took the place of the latest earlier message of its role.
    pub supersedes: bool,
    /// The bytes as they came; `None` where the item was deleted and only its traces are held.
    pub body: Option<Bytes>,
}

impl HeldItem {
    /// `item` held under `id`.
    pub fn new(id: ItemId, item: &Item, key: FingerprintKey, origin: Option<Origin>) -> Self {
        Self {
            id,
            head: item.head().clone(),
            fingerprint: Fingerprint::of(key, item),
            origin,
            supersedes: false,
            body: Some(item.raw().clone()),
        }
    }

    /// The item; `None` where it was deleted.
    pub fn item(&self) -> Option<Item> {
        self.body.as_ref().map(|raw| Item::from_parts(raw.clone(), self.head.clone()))
    }

    /// Whether `item` is held as the very bytes that it came as.
    pub(crate) fn is_byte_for_byte(&self, item: &Item) -> bool {
        self.body.as_ref() == Some(item.raw())
    }

    /// Whether the item was deleted.
    pub fn is_tombstone(&self) -> bool {
        self.body.is_none()
    }
}
