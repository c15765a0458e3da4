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

    /// Antiphon itself: what it [makes up](crate::made_up) where the real thing is missing. No
    /// upstream is called so, since their origins name a model too.
    pub fn made_up() -> Self {
        Self::new(MADE_UP)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The origin of what nobody made.
const MADE_UP: &str = "antiphon";

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
    /// The bytes as they came, or where they are instead.
    pub body: Body,
}

/// The bytes of a held item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// They are here.
    Here(Bytes),
    /// Another owner of the state has them, as a provider that keeps conversations. Here are only
    /// the item's traces: enough to know it again.
    Elsewhere,
    /// The item was deleted; its traces are left.
    Erased,
}

impl Body {
    /// The bytes, where they are here.
    pub fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Here(bytes) => Some(bytes),
            Self::Elsewhere | Self::Erased => None,
        }
    }
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
            body: Body::Here(item.raw().clone()),
        }
    }

    /// The same of an item whose bytes another owner has. What was deleted stays so.
    #[must_use]
    pub fn elsewhere(self) -> Self {
        match self.body {
            Body::Here(_) => Self { body: Body::Elsewhere, ..self },
            Body::Elsewhere | Body::Erased => self,
        }
    }

    /// The item; `None` where its bytes are not here.
    pub fn item(&self) -> Option<Item> {
        self.body.bytes().map(|raw| Item::from_parts(raw.clone(), self.head.clone()))
    }

    /// What is known of an item that lives, here or elsewhere: the item, or an item with its head
    /// and nothing else; `None` where it was deleted.
    pub fn outline(&self) -> Option<Item> {
        match &self.body {
            Body::Here(raw) => Some(Item::from_parts(raw.clone(), self.head.clone())),
            Body::Elsewhere => Some(Item::outline(self.head.clone())),
            Body::Erased => None,
        }
    }

    /// Whether `item` is held as the very bytes that it came as.
    pub(crate) fn is_byte_for_byte(&self, item: &Item) -> bool {
        self.body.bytes() == Some(item.raw())
    }

    /// Whether it was made up here, because the real thing was missing.
    pub fn is_made_up(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| origin.as_str() == MADE_UP)
    }

    /// Whether the item was deleted.
    pub fn is_tombstone(&self) -> bool {
        self.body == Body::Erased
    }
}
