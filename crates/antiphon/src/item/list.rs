//! Reads a JSON array of items without copying the bodies.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{Head, HeadError, Item};

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

/// Parses the JSON array `text` into items. Each item's bytes are a slice of `text`.
pub fn parse_items(text: &Bytes) -> Result<Vec<Item>, ListError> {
    let raws: Vec<&RawValue> =
        serde_json::from_slice(text).map_err(|error| ListError::NotAnArray(error.to_string()))?;
    raws.iter().enumerate().map(|(position, raw)| item_at(text, position, raw)).collect()
}

fn item_at(text: &Bytes, position: usize, raw: &RawValue) -> Result<Item, ListError> {
    let head = Head::parse_str(raw.get()).map_err(|error| ListError::Item { position, error })?;
    Ok(Item::from_parts(text.slice_ref(raw.get().as_bytes()), head))
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
