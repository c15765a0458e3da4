//! The refusals of a stateful provider, each with its own text.

use serde_json::Value;

use super::{Refusal, catalogue};

/// Keys.
impl Refusal {
    /// The text shows the last four characters of the key.
    pub(crate) fn wrong_key(key: &str) -> Self {
        let last = key.char_indices().nth_back(3).map_or("", |(at, _)| &key[at..]);
        catalogue::refusal("wrong_key", &[("key", &format!("sk-...{last}"))])
    }

    pub(crate) fn no_key() -> Self {
        catalogue::refusal("no_key", &[])
    }
}

/// Conversations, responses and items.
impl Refusal {
    pub(crate) fn previous_response_not_found(id: &str) -> Self {
        catalogue::refusal("previous_response_not_found", &[("id", id)])
    }

    pub(crate) fn response_not_found(id: &str) -> Self {
        catalogue::refusal("response_not_found", &[("id", id)])
    }

    pub(crate) fn conversation_not_found(id: &str) -> Self {
        catalogue::refusal("conversation_not_found", &[("id", id)])
    }

    pub(crate) fn item_not_in_conversation(id: &str) -> Self {
        catalogue::refusal("item_not_in_conversation", &[("id", id)])
    }

    pub(crate) fn model_not_served(name: &str) -> Self {
        catalogue::refusal("model_not_served", &[("model", name)])
    }

    pub(crate) fn conversation_locked() -> Self {
        catalogue::refusal("conversation_locked", &[])
    }

    pub(crate) fn cannot_cancel() -> Self {
        catalogue::refusal("cannot_cancel", &[])
    }

    pub(crate) fn cannot_stream() -> Self {
        catalogue::refusal("cannot_stream", &[])
    }
}

/// Parameters.
impl Refusal {
    pub(crate) fn mutually_exclusive() -> Self {
        catalogue::refusal("mutually_exclusive", &[])
    }

    pub(crate) fn unknown_model(name: &str) -> Self {
        catalogue::refusal("unknown_model", &[("model", name)])
    }

    pub(crate) fn unknown_field(name: &str) -> Self {
        catalogue::refusal("unknown_field", &[("param", name)])
    }

    pub(crate) fn background_needs_store() -> Self {
        catalogue::refusal("background_needs_store", &[])
    }

    pub(crate) fn invalid_value(param: &str, value: &str, supported: &str) -> Self {
        let values = [("param", param), ("value", value), ("supported", supported)];
        catalogue::refusal("invalid_value", &values)
    }
}

/// Sizes.
impl Refusal {
    pub(crate) fn too_many_properties(param: &str, maximum: usize, count: usize) -> Self {
        let (maximum, count) = (maximum.to_string(), count.to_string());
        let values = [("param", param), ("maximum", &*maximum), ("count", &*count)];
        catalogue::refusal("too_many_properties", &values)
    }

    pub(crate) fn array_too_long(param: &str, maximum: usize, length: usize) -> Self {
        let (maximum, length) = (maximum.to_string(), length.to_string());
        let values = [("param", param), ("maximum", &*maximum), ("length", &*length)];
        catalogue::refusal("array_too_long", &values)
    }

    pub(crate) fn below_minimum(param: &str, minimum: i64, value: &Value) -> Self {
        let (minimum, value) = (minimum.to_string(), value.to_string());
        let values = [("param", param), ("minimum", &*minimum), ("value", &*value)];
        catalogue::refusal("below_minimum", &values)
    }

    pub(crate) fn above_maximum(param: &str, maximum: i64, value: &Value) -> Self {
        let (maximum, value) = (maximum.to_string(), value.to_string());
        let values = [("param", param), ("maximum", &*maximum), ("value", &*value)];
        catalogue::refusal("above_maximum", &values)
    }
}
