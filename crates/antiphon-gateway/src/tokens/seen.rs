//! What of an item a model sees.

use antiphon::{Item, Kind};
use serde_json::{Map, Value};

use super::media;
use super::vocabulary::{BYTES_OF_A_TOKEN, Counter};

/// What stands around a message: who speaks, where it begins and ends. Source: OpenAI's recipe for
/// counting a chat's tokens.
const MESSAGE: u64 = 4;

/// Fields that say nothing to a model.
const UNSEEN: [&str; 15] = [
    "id",
    "type",
    "status",
    "role",
    "phase",
    "object",
    "call_id",
    "approval_request_id",
    "annotations",
    "logprobs",
    "encrypted_content",
    "detail",
    "created_by",
    "container_id",
    "caller",
];

/// The tokens of an item.
pub(super) fn of_item(counter: &mut Counter, item: &Item) -> u64 {
    let head = item.head();
    let is_sealed = head.encrypted && matches!(head.kind, Kind::Reasoning | Kind::Compaction);
    if is_sealed {
        return MESSAGE + of_sealed(&item.object().string("encrypted_content").unwrap_or_default());
    }
    MESSAGE
        + match serde_json::from_slice(item.raw()) {
            Ok(item) => of_value(counter, &item),
            // Nested too deeply to be read: it is seen as it is written.
            Err(_) => counter.count(item.text()),
        }
}

/// The tokens of a message of this text.
pub(super) fn of_message(counter: &mut Counter, text: &str) -> u64 {
    MESSAGE + counter.count(text)
}

/// What is sealed is a text in base64, which takes four bytes for three.
fn of_sealed(content: &str) -> u64 {
    (content.len() as u64 / 4 * 3).div_ceil(BYTES_OF_A_TOKEN)
}

fn of_value(counter: &mut Counter, value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(number) => counter.count(&number.to_string()),
        Value::String(text) => of_text(counter, text),
        Value::Array(values) => values.iter().map(|value| of_value(counter, value)).sum(),
        Value::Object(fields) => of_object(counter, fields),
    }
}

fn of_object(counter: &mut Counter, fields: &Map<String, Value>) -> u64 {
    if let Some(tokens) = media::of_part(counter, fields) {
        return tokens;
    }
    let seen = fields.iter().filter(|(key, _)| !UNSEEN.contains(&key.as_str()));
    seen.map(|(_, value)| of_value(counter, value)).sum()
}

fn of_text(counter: &mut Counter, text: &str) -> u64 {
    match media::of_data_url(counter, text) {
        Some(tokens) => tokens,
        None => counter.count(text),
    }
}
