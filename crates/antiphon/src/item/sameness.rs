//! Comparison of items by their content.

use serde_json::Value;

use super::{Head, Item, Kind, fingerprint};
use crate::json::{self, Object};

impl Item {
    /// Whether the two items have equal kind and content.
    ///
    /// Clients drop fields, add nulls and rewrite JSON. So ids, status and fields of only one of
    /// the items do not count. Arguments are compared as JSON, contents and outputs by their text
    /// and parts, as a string or as an array.
    pub fn has_same_content(&self, other: &Self) -> bool {
        if self.raw() == other.raw() {
            return true;
        }
        if self.head().kind != other.head().kind {
            return false;
        }
        let (one, two) = (self.object(), other.object());
        one.iter().filter(|(key, _)| counts(key)).all(|(key, _)| {
            let values = one.present(key).zip(two.present(key));
            values.is_none_or(|(one, two)| same_value(key, one, two))
        })
    }

    /// Whether this item is a copy of `earlier`, which has the same id.
    ///
    /// For an item of the model, the id decides, because a client may have stored only a part of
    /// it. Two messages of the model are copies if one text begins with the other. User messages,
    /// calls and outputs are copies only if their content is equal: clients invent ids, and some
    /// servers restart them. If only the head of the earlier user message is known, the item counts
    /// as new, so that no text is lost.
    pub(crate) fn is_copy_of(&self, earlier: &Self) -> bool {
        let (one, two) = (earlier.head(), self.head());
        let is_reference = |head: &Head| head.kind == Kind::ItemReference;
        let is_bound_to_id = two.encrypted && two.pairing().is_none();
        if is_reference(one) || is_reference(two) || is_bound_to_id {
            return true;
        }
        if one.kind != two.kind || one.call_id != two.call_id {
            return false;
        }
        let is_what_its_id_says = two.is_model_made() && two.pairing().is_none();
        match two.kind {
            Kind::Message if is_what_its_id_says => is_one_text(self, earlier),
            Kind::Message if earlier.is_outline() => false,
            _ => is_what_its_id_says || self.has_same_content(earlier),
        }
    }

    /// The texts of a message, concatenated.
    pub(crate) fn words(&self) -> String {
        let message = self.object();
        let content = message.present("content").unwrap_or_default();
        if let Some(text) = json::unquote(content) {
            return text.into_owned();
        }
        let parts: Vec<Object<'_>> = serde_json::from_str(content).unwrap_or_default();
        let words = parts.iter().filter_map(|part| part.string("text").or(part.string("refusal")));
        words.collect()
    }

    /// Whether the item is a message that the client wrote.
    pub(crate) fn is_callers_message(&self) -> bool {
        self.head().kind == Kind::Message && !self.head().is_model_made()
    }
}

/// Whether the text of one message begins with the text of the other.
fn is_one_text(one: &Item, two: &Item) -> bool {
    let (one, two) = (one.words(), two.words());
    one.starts_with(&two) || two.starts_with(&one)
}

fn counts(key: &str) -> bool {
    !matches!(key, "id" | "status" | "type")
}

fn same_value(key: &str, one: &str, two: &str) -> bool {
    one == two
        || same_json(one, two)
        || match key {
            "arguments" => same_arguments(one, two),
            "content" | "output" => fingerprint::same_content(one, two),
            _ => false,
        }
}

/// Compares arguments, which are JSON inside a string.
fn same_arguments(one: &str, two: &str) -> bool {
    match (json::unquote(one), json::unquote(two)) {
        (Some(one), Some(two)) => same_json(&one, &two),
        _ => false,
    }
}

fn same_json(one: &str, two: &str) -> bool {
    let parsed = |raw| serde_json::from_str::<Value>(raw).ok();
    parsed(one).is_some_and(|one| Some(one) == parsed(two))
}

#[cfg(test)]
mod tests {
    use crate::item::given::{call, call_under, item, output, reasoning};

    #[test]
    fn reformatted_arguments_are_equal() {
        let made = call_under("fc_1", "call_1", r#"{"city":"Bonn","days":2}"#);
        assert!(made.has_same_content(&call("call_1", r#"{ "days": 2, "city": "Bonn" }"#)));
        assert!(!made.has_same_content(&call("call_1", r#"{"city":"Rome","days":2}"#)));
    }

    #[test]
    fn invalid_json_arguments_compare_as_text() {
        let made = call("call_1", r#"{"city":"Bo"#);
        assert!(made.has_same_content(&made));
        assert!(!made.has_same_content(&call("call_1", r#"{"city":"Ro"#)));
    }

    #[test]
    fn output_as_string_equals_output_as_parts() {
        let text = output("call_1", "20 degrees");
        let parts = item(
            r#"{"type":"function_call_output","call_id":"call_1","status":"completed",
                "output":[{"type":"input_text","text":"20 degrees"}]}"#,
        );
        assert!(text.has_same_content(&parts));
        assert!(!parts.has_same_content(&output("call_1", "10 degrees")));
    }

    #[test]
    fn dropped_and_null_fields_are_ignored() {
        let made = item(
            r#"{"id":"ws_1","type":"web_search_call","status":"completed","action":{"query":"x"}}"#,
        );
        let back = item(r#"{"type":"web_search_call","action":{"query":"x"},"results":null}"#);
        assert!(made.has_same_content(&back));
    }

    #[test]
    fn shared_id_joins_model_messages_but_not_user_messages() {
        let part = item(r#"{"id":"msg_1","type":"message","role":"assistant","content":"He"}"#);
        let whole = item(r#"{"id":"msg_1","type":"message","role":"assistant","content":"Hello"}"#);
        let other = item(r#"{"id":"msg_1","type":"message","role":"assistant","content":"Bye"}"#);
        assert!(whole.is_copy_of(&part) && part.is_copy_of(&whole));
        assert!(!other.is_copy_of(&whole));
        let one = item(r#"{"id":"msg_1","role":"user","content":"hi"}"#);
        let two = item(r#"{"id":"msg_1","role":"user","content":"bye"}"#);
        assert!(one.is_copy_of(&one) && !two.is_copy_of(&one));
    }

    #[test]
    fn encrypted_item_is_always_a_copy_under_its_id() {
        let note = item(r#"{"type":"acme:note","id":"rs_1"}"#);
        assert!(reasoning("rs_1").is_copy_of(&note));
        assert!(!note.is_copy_of(&reasoning("rs_1")));
    }

    #[test]
    fn equal_calls_under_one_id_are_copies() {
        let call = call_under("fc_0", "call_0", r#"{"city":"Bonn"}"#);
        assert!(call.is_copy_of(&call));
        assert!(!call_under("fc_0", "call_0", r#"{"city":"Rome"}"#).is_copy_of(&call));
        assert!(!call_under("fc_0", "call_1", r#"{"city":"Bonn"}"#).is_copy_of(&call));
        assert!(!output("call_0", "20 degrees").is_copy_of(&call));
    }

    #[test]
    fn items_of_different_kinds_never_match() {
        let function = item(r#"{"type":"function_call_output","call_id":"c","output":"x"}"#);
        let custom = item(r#"{"type":"custom_tool_call_output","call_id":"c","output":"x"}"#);
        assert!(!function.has_same_content(&custom));
    }
}
