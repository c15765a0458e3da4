//! Cards: what the inspector shows of an item.

use antiphon::{Body, Head, HeldItem, Kind, Role};
use bytes::Bytes;
use serde_json::Value;

use super::model::{Card, Fate};

/// The maximum length of the text of a card, in characters.
const MAX_TEXT: usize = 240;
/// The maximum length of the JSON of a card, in bytes.
const MAX_BODY: usize = 16 << 10;
/// The bytes of a token, on average.
const BYTES_PER_TOKEN: u64 = 4;

/// The card of a stored item. Without `shows_bodies`, it has no content.
pub(super) fn card(held: &HeldItem, position: Option<usize>, shows_bodies: bool) -> Card {
    let key = held.id.to_string();
    let card = content_card(key, &held.head, held.body.bytes(), shows_bodies);
    Card {
        position,
        fates: if held.body == Body::Erased { vec![Fate::Deleted] } else { Vec::new() },
        ..card
    }
}

/// The card of an item with this head and these bytes. Its id is its key.
pub(super) fn content_card(
    key: String,
    head: &Head,
    raw: Option<&Bytes>,
    shows_bodies: bool,
) -> Card {
    let bytes = raw.map_or(0, |raw| raw.len() as u64);
    let shown = raw.filter(|_| shows_bodies);
    let json = shown.and_then(|raw| serde_json::from_slice::<Value>(raw).ok());
    Card {
        id: Some(key.clone()),
        key,
        position: None,
        kind: head.kind.as_str().to_owned(),
        role: role(head, json.as_ref()),
        call_id: head.call_id.as_ref().map(ToString::to_string),
        bytes,
        tokens: raw.map(|_| bytes.div_ceil(BYTES_PER_TOKEN)),
        text: json.as_ref().and_then(excerpt),
        body: shown.filter(|raw| raw.len() <= MAX_BODY).map(|raw| lossy(raw)),
        fates: Vec::new(),
    }
}

/// The card of an item that is known only from a report.
pub(super) fn reported_card(key: String, kind: &str, id: Option<String>, fate: Fate) -> Card {
    Card {
        key,
        position: None,
        kind: kind.to_owned(),
        role: None,
        id,
        call_id: None,
        bytes: 0,
        tokens: None,
        text: None,
        body: None,
        fates: vec![fate],
    }
}

fn lossy(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).into_owned()
}

fn role(head: &Head, json: Option<&Value>) -> Option<String> {
    if head.kind != Kind::Message {
        return None;
    }
    let known = match head.role? {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Developer => "developer",
        Role::Other => return json?.get("role")?.as_str().map(str::to_owned),
    };
    Some(known.to_owned())
}

/// The fields that can have the text of an item.
const FIELDS: [&str; 7] = ["content", "output", "arguments", "summary", "input", "action", "text"];

/// The beginning of the text of an item: of a message, an output, the arguments of a call, or a
/// summary. For the response to an approval request, its decision.
pub(super) fn excerpt(item: &Value) -> Option<String> {
    if let Some(approve) = item.get("approve").and_then(Value::as_bool) {
        return Some(if approve { "approved" } else { "denied" }.to_owned());
    }
    let name = item.get("name").and_then(Value::as_str);
    if let (Some(name), Some(arguments)) = (name, item.get("arguments").and_then(Value::as_str)) {
        return Some(shortened(&format!("{name}({arguments})")));
    }
    let text = FIELDS.iter().filter_map(|field| item.get(field)).find_map(text_of)?;
    Some(shortened(&text))
}

/// All text in a value: a string, a part with a text, or a list of these.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().filter_map(text_of).collect();
            (!texts.is_empty()).then(|| texts.join(" "))
        }
        Value::Object(part) => {
            ["text", "refusal", "output"].iter().find_map(|field| text_of(part.get(*field)?))
        }
        _ => None,
    }
}

/// The beginning of a text, with an ellipsis if more follows.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn excerpt_is_the_text_of_an_item() {
        for (item, text) in [
            (json!({"role": "user", "content": "Hello"}), "Hello"),
            (json!({"content": [{"type": "input_text", "text": "a"}, {"text": "b"}]}), "a b"),
            (json!({"name": "f", "arguments": "{}"}), "f({})"),
            (json!({"output": "done"}), "done"),
            (json!({"approve": true, "approval_request_id": "mcpr_1"}), "approved"),
            (json!({"approve": false, "approval_request_id": "mcpr_1"}), "denied"),
            (json!({"content": [], "summary": [{"text": "thought"}]}), "thought"),
        ] {
            assert_eq!(excerpt(&item).as_deref(), Some(text));
        }
        assert_eq!(excerpt(&json!({"type": "reasoning", "summary": []})), None);
    }

    #[test]
    fn long_text_is_shortened_at_a_character() {
        let text = shortened(&"é".repeat(1000));
        assert_eq!(text.chars().count(), MAX_TEXT + 1);
    }
}
