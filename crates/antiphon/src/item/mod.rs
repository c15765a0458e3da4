//! Items: the raw JSON that came, beside a small typed head.

mod exchange;
mod fingerprint;
#[cfg(test)]
pub(crate) mod given;
mod head;
mod ids;
mod kind;
mod list;
mod pairing;
mod sameness;

use bytes::Bytes;

pub use exchange::Exchange;
pub(crate) use exchange::{Exchanges, Joined};
pub use fingerprint::{Fingerprint, FingerprintKey};
pub use head::{Head, HeadError, Role};
pub use ids::{CallId, IdSource, ItemId, push_hex};
pub use kind::Kind;
pub use list::{ListError, items_of};
pub use pairing::{CallKey, Side};

use crate::json::Object;

/// What stands for the bytes that are not known. No item consists of it.
const OUTLINE: &[u8] = b"{}";

/// One item of a conversation: its bytes as they came, and the few fields that decide its fate.
///
/// Cloning is cheap: bytes and ids are shared. Nothing here rewrites the bytes except
/// [`Item::with`], which keeps every field that it was not told to change.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    raw: Bytes,
    head: Head,
}

impl Item {
    /// Reads the head of an item. The bytes are kept as they are.
    pub fn parse(raw: Bytes) -> Result<Self, HeadError> {
        Head::parse(&raw).map(|head| Self { raw, head })
    }

    /// An item whose head is already known, because it was stored beside the bytes.
    pub fn from_parts(raw: Bytes, head: Head) -> Self {
        Self { raw, head }
    }

    /// An item of which the head is known and nothing else. It says the same as every item of its
    /// kind.
    pub(crate) fn outline(head: Head) -> Self {
        Self::from_parts(Bytes::from_static(OUTLINE), head)
    }

    /// Whether nothing but the head is known of it.
    pub(crate) fn is_outline(&self) -> bool {
        self.raw == OUTLINE
    }

    /// The bytes as they came.
    pub fn raw(&self) -> &Bytes {
        &self.raw
    }

    /// The typed head.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The item as JSON text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.raw).expect("an item was parsed as JSON, which is UTF-8")
    }

    /// The item's fields, raw.
    pub fn object(&self) -> Object<'_> {
        Object::parse(&self.raw).expect("an item was parsed as an object")
    }

    /// A copy of the item with some fields changed, all others byte for byte.
    ///
    /// # Panics
    /// If `change` leaves something that is no item, such as a numeric `id`.
    #[must_use]
    pub fn with(&self, change: impl FnOnce(&mut Object<'_>)) -> Self {
        let mut object = self.object();
        change(&mut object);
        Self::parse(object.to_bytes()).expect("the changed fields are an item's")
    }
}
