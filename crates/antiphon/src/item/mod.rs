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

mod derived_id;
mod exchange;
mod facts;
mod fingerprint;
#[cfg(any(test, feature = "fixtures"))]
pub mod given;
mod head;
mod ids;
mod inferred_pairs;
mod kind;
mod pairing;
mod sameness;

use bytes::Bytes;

use crate::json::{Object, parse_elements};

pub(crate) use derived_id::{DerivedIds, derive_id};
pub use exchange::{Exchange, Exchanges, PairRole};
pub(crate) use facts::{AtServer, CallIdField, IdNeed, ItemEvents};
pub use facts::{StatusField, TextField, Tool};
pub use fingerprint::{Fingerprint, FingerprintKey};
pub use head::{Head, HeadError, Role};
pub use ids::{CallId, IdSource, ItemId, push_hex};
pub(crate) use inferred_pairs::{InferredPairs, with_pairing};
pub use kind::Kind;
pub use pairing::{CallKey, Side};

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

/// The reason why a JSON value is not an array of items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The value is not an array.
    #[error("expected an array of items: {0}")]
    NotAnArray(String),
    /// An element is not an item.
    #[error("item {position}: {error}")]
    Item {
        /// The element's position, from 0.
        position: usize,
        /// The reason.
        error: HeadError,
    },
}

/// For how many items room is reserved before they are parsed.
const USUAL_ITEMS: usize = 64;

/// Parses the JSON array `text` into items. Each item's bytes are a slice of `text`.
pub fn parse_items(text: &Bytes) -> Result<Vec<Item>, ListError> {
    let raws = parse_elements(text).map_err(|error| ListError::NotAnArray(error.to_string()))?;
    // Exact for usual requests; a longer text is not trusted to consist of items.
    let mut items = Vec::with_capacity(raws.len().min(USUAL_ITEMS));
    for (position, raw) in raws.iter().enumerate() {
        items.push(item_at(text, position, raw)?);
    }
    Ok(items)
}

fn item_at(text: &Bytes, position: usize, raw: &str) -> Result<Item, ListError> {
    let head = Head::parse_str(raw).map_err(|error| ListError::Item { position, error })?;
    Ok(Item::from_parts(text.slice_ref(raw.as_bytes()), head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_slices_of_the_input() {
        let text = Bytes::from_static(br#"[ {"role":"user","content":1e2}, {"id":"rs_1"} ]"#);
        let items = parse_items(&text).unwrap();
        assert_eq!(items[0].text(), r#"{"role":"user","content":1e2}"#);
        assert!(text.as_ptr_range().contains(&items[1].raw().as_ptr()));
    }

    #[test]
    fn list_error_names_the_position() {
        let text = Bytes::from_static(br#"[{"role":"user"},7]"#);
        assert_eq!(
            parse_items(&text),
            Err(ListError::Item {
                position: 1,
                error: HeadError::NotAnObject { got: "an integer" }
            })
        );
    }
}
