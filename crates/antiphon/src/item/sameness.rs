//! Whether two items say the same.

use serde_json::Value;

use super::{Head, Item, Kind, fingerprint};
use crate::json::{self, Object};

impl Item {
    /// Whether the two are of one kind and say the same.
    ///
    /// Clients drop fields, fabricate nulls and write JSON anew: ids, status and fields that only
    /// one of the two carries do not count, arguments count as the JSON that they hold, content and
    /// outputs by what they say in whatever form.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
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

    /// Whether this is `earlier` once more, the two having one id.
    ///
    /// What a model made is what its id says, however much of it a client kept: of its messages, one
    /// text and a beginning of it are one. Messages of callers, calls and outputs are copies only
    /// where they say the same: clients make ids up, and some servers restart them. Of a caller's
    /// message in outline nobody can tell, and new words are not to be lost.
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
            _ => is_what_its_id_says || self.says_the_same_as(earlier),
        }
    }

    /// The words of a message, run together.
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

    /// Whether it is a message that its caller wrote.
    pub(crate) fn is_callers_message(&self) -> bool {
        self.head().kind == Kind::Message && !self.head().is_model_made()
    }
}

/// Whether one of two messages says all that the other says, from its beginning on.
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

/// Arguments are JSON inside a string.
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
    fn arguments_that_were_written_anew_are_the_same() {
        let made = call_under("fc_1", "call_1", r#"{"city":"Bonn","days":2}"#);
        assert!(made.says_the_same_as(&call("call_1", r#"{ "days": 2, "city": "Bonn" }"#)));
        assert!(!made.says_the_same_as(&call("call_1", r#"{"city":"Rome","days":2}"#)));
    }

    #[test]
    fn arguments_that_are_no_json_count_as_text() {
        let made = call("call_1", r#"{"city":"Bo"#);
        assert!(made.says_the_same_as(&made));
        assert!(!made.says_the_same_as(&call("call_1", r#"{"city":"Ro"#)));
    }

    #[test]
    fn an_output_is_the_same_as_a_string_and_as_parts() {
        let text = output("call_1", "20 degrees");
        let parts = item(
            r#"{"type":"function_call_output","call_id":"call_1","status":"completed",
                "output":[{"type":"input_text","text":"20 degrees"}]}"#,
        );
        assert!(text.says_the_same_as(&parts));
        assert!(!parts.says_the_same_as(&output("call_1", "10 degrees")));
    }

    #[test]
    fn what_clients_drop_and_fabricate_does_not_count() {
        let made = item(
            r#"{"id":"ws_1","type":"web_search_call","status":"completed","action":{"query":"x"}}"#,
        );
        let back = item(r#"{"type":"web_search_call","action":{"query":"x"},"results":null}"#);
        assert!(made.says_the_same_as(&back));
    }

    #[test]
    fn under_one_id_what_a_model_said_is_one_item_and_what_callers_said_is_two() {
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
    fn encrypted_content_is_bound_to_its_id_and_so_never_a_second_item_under_it() {
        let note = item(r#"{"type":"acme:note","id":"rs_1"}"#);
        assert!(reasoning("rs_1").is_copy_of(&note));
        assert!(!note.is_copy_of(&reasoning("rs_1")));
    }

    #[test]
    fn under_one_id_calls_are_copies_where_they_say_the_same() {
        let call = call_under("fc_0", "call_0", r#"{"city":"Bonn"}"#);
        assert!(call.is_copy_of(&call));
        assert!(!call_under("fc_0", "call_0", r#"{"city":"Rome"}"#).is_copy_of(&call));
        assert!(!call_under("fc_0", "call_1", r#"{"city":"Bonn"}"#).is_copy_of(&call));
        assert!(!output("call_0", "20 degrees").is_copy_of(&call));
    }

    #[test]
    fn items_of_two_kinds_never_say_the_same() {
        let function = item(r#"{"type":"function_call_output","call_id":"c","output":"x"}"#);
        let custom = item(r#"{"type":"custom_tool_call_output","call_id":"c","output":"x"}"#);
        assert!(!function.says_the_same_as(&custom));
    }
}
