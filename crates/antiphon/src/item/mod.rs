//! Items of a conversation: the JSON as it was received, with a small typed head.
//!
//! ```
//! use antiphon::{Item, Kind};
//!
//! let text = r#"{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}","x":1e2}"#;
//! let call = Item::parse(text.into()).unwrap();
//! assert_eq!(call.head().kind, Kind::FunctionCall);
//! assert_eq!(call.head().kind.output(), Some(Kind::FunctionCallOutput));
//! assert_eq!(call.with_call_id(&"call_2".into()).text(), text.replace("call_1", "call_2"));
//! ```

mod exchange;
mod facts;
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
pub(crate) use exchange::{Exchanges, PairRole};
pub(crate) use facts::{CallIdField, ItemEvents};
pub use facts::{StatusField, TextField, Tool};
pub use fingerprint::{Fingerprint, FingerprintKey};
pub use head::{Head, HeadError, Role};
pub use ids::{CallId, IdSource, ItemId, push_hex};
pub use kind::Kind;
pub use list::{ListError, parse_items};
pub use pairing::{CallKey, Side};

use crate::json::Object;

/// The body of an item whose real body is unknown. No real item has it.
const OUTLINE: &[u8] = b"{}";

/// One item of a conversation: its bytes as received, and the [`Head`] with the few fields that
/// decide how it is handled.
///
/// Cloning is cheap: bytes and ids are shared. Only [`Item::with`] and [`Item::with_call_id`] write
/// other bytes, and they preserve every field that they do not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    raw: Bytes,
    head: Head,
}

impl Item {
    /// Reads the head of an item. The bytes stay as they are.
    pub fn parse(raw: Bytes) -> Result<Self, HeadError> {
        Head::parse(&raw).map(|head| Self { raw, head })
    }

    /// An item from its bytes and their head, which was stored with them.
    pub fn from_parts(raw: Bytes, head: Head) -> Self {
        Self { raw, head }
    }

    /// An item of which only the head is known. Its content counts as equal to that of every item
    /// of its kind.
    pub(crate) fn outline(head: Head) -> Self {
        Self::from_parts(Bytes::from_static(OUTLINE), head)
    }

    /// Whether only the head is known.
    pub(crate) fn is_outline(&self) -> bool {
        self.raw == OUTLINE
    }

    /// The bytes as received.
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

    /// The item's fields, with raw values.
    pub fn object(&self) -> Object<'_> {
        Object::parse(&self.raw).expect("an item was parsed as an object")
    }

    /// A copy of the item with some fields changed and all others byte for byte.
    ///
    /// # Panics
    /// If the result of `change` is not an item, for example because its `id` is a number.
    #[must_use]
    pub fn with(&self, change: impl FnOnce(&mut Object<'_>)) -> Self {
        let mut object = self.object();
        change(&mut object);
        Self::parse(object.to_bytes()).expect("the changed fields are an item's")
    }
}
