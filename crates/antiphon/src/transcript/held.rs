//! One item of a transcript.

use std::sync::Arc;

use bytes::Bytes;

use crate::item::{Fingerprint, FingerprintKey, Head, Item, ItemId};

/// The origin of an output item: upstream and model family, as the gateway names them. Encrypted
/// content is sent only to its origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin(Arc<str>);

impl Origin {
    /// Creates an origin from its name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Antiphon itself, as the origin of the items that [it creates](crate::placeholder):
    /// placeholder outputs, and messages that carry late outputs. No upstream has this name, since
    /// the names of upstream origins include a model.
    pub fn placeholder() -> Self {
        Self::new(PLACEHOLDER)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The origin of the items that Antiphon creates.
const PLACEHOLDER: &str = "antiphon";

/// An item of a transcript: its bytes, its parsed head, and its id.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldItem {
    /// Its own id, or an id that was issued here if it had none.
    pub id: ItemId,
    /// The head of the bytes. Its `id` is absent if the bytes have none.
    pub head: Head,
    /// The fingerprint of a message's content; `None` for other kinds.
    pub fingerprint: Option<Fingerprint>,
    /// The origin of an output item, or of an item that Antiphon created; `None` for the client's
    /// input.
    pub origin: Option<Origin>,
    /// For instructions: whether it replaced the latest earlier message of its role.
    pub supersedes: bool,
    /// The original bytes, or the place where they are stored.
    pub body: Body,
}

/// The bytes of a held item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The bytes are here.
    Stored(Bytes),
    /// Another state owner has the bytes, such as a provider that stores conversations. Only the
    /// head and fingerprint are here: enough to recognize the item.
    StoredElsewhere,
    /// The item was deleted; its head and fingerprint remain.
    Erased,
}

impl Body {
    /// The bytes, if they are here.
    pub fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Stored(bytes) => Some(bytes),
            Self::StoredElsewhere | Self::Erased => None,
        }
    }
}

impl HeldItem {
    /// Creates the record of `item` with this id.
    pub fn new(id: ItemId, item: &Item, key: FingerprintKey, origin: Option<Origin>) -> Self {
        Self {
            id,
            head: item.head().clone(),
            fingerprint: Fingerprint::from_item(key, item),
            origin,
            supersedes: false,
            body: Body::Stored(item.raw().clone()),
        }
    }

    /// Marks the bytes as stored by another owner. A deleted item stays deleted.
    #[must_use]
    pub fn without_body(self) -> Self {
        match self.body {
            Body::Stored(_) => Self { body: Body::StoredElsewhere, ..self },
            Body::StoredElsewhere | Body::Erased => self,
        }
    }

    /// The number of its bytes that are here.
    pub fn length(&self) -> usize {
        self.body.bytes().map_or(0, Bytes::len)
    }

    /// The item; `None` if its bytes are not here.
    pub fn item(&self) -> Option<Item> {
        self.body.bytes().map(|raw| Item::from_parts(raw.clone(), self.head.clone()))
    }

    /// The item or, if another owner has its bytes, an item with only its head; `None` if it was
    /// deleted.
    pub fn outline(&self) -> Option<Item> {
        match &self.body {
            Body::Stored(raw) => Some(Item::from_parts(raw.clone(), self.head.clone())),
            Body::StoredElsewhere => Some(Item::outline(self.head.clone())),
            Body::Erased => None,
        }
    }

    /// Whether the stored bytes are those of `item`.
    pub(crate) fn is_byte_for_byte(&self, item: &Item) -> bool {
        self.body.bytes() == Some(item.raw())
    }

    /// Whether Antiphon created it: a placeholder output, or a message that carries a late output.
    pub fn is_placeholder(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| origin.as_str() == PLACEHOLDER)
    }

    /// Whether the item was deleted.
    pub fn is_tombstone(&self) -> bool {
        self.body == Body::Erased
    }
}
