//! Counts the tokens of an item that a model receives.

use antiphon::{Item, Kind};
use serde_json::{Map, Value};

use super::media;
use super::vocabulary::{BYTES_PER_TOKEN, Counter};

/// The overhead of a message: its role, its start and its end. Source: OpenAI's recipe for counting
/// a chat's tokens.
const MESSAGE: u64 = 4;

/// Fields that are not part of a model's input.
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
pub(super) fn count_item(counter: &mut Counter, item: &Item) -> u64 {
    let head = item.head();
    let is_sealed = head.encrypted && matches!(head.kind, Kind::Reasoning | Kind::Compaction);
    if is_sealed {
        return MESSAGE
            + count_sealed(&item.object().string("encrypted_content").unwrap_or_default());
    }
    MESSAGE
        + match serde_json::from_slice(item.raw()) {
            Ok(item) => count_value(counter, &item),
            // Nested too deeply to parse: count the JSON text.
            Err(_) => counter.count(item.text()),
        }
}

/// The tokens of a message with this text.
pub(super) fn count_message(counter: &mut Counter, text: &str) -> u64 {
    MESSAGE + counter.count(text)
}

/// The tokens of sealed content, which is text in base64: four characters per three bytes.
fn count_sealed(content: &str) -> u64 {
    (content.len() as u64 / 4 * 3).div_ceil(BYTES_PER_TOKEN)
}

fn count_value(counter: &mut Counter, value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(number) => counter.count(&number.to_string()),
        Value::String(text) => count_text(counter, text),
        Value::Array(values) => values.iter().map(|value| count_value(counter, value)).sum(),
        Value::Object(fields) => count_object(counter, fields),
    }
}

fn count_object(counter: &mut Counter, fields: &Map<String, Value>) -> u64 {
    if let Some(tokens) = media::count_part(counter, fields) {
        return tokens;
    }
    let seen = fields.iter().filter(|(key, _)| !UNSEEN.contains(&key.as_str()));
    seen.map(|(_, value)| count_value(counter, value)).sum()
}

fn count_text(counter: &mut Counter, text: &str) -> u64 {
    match media::count_data_url(counter, text) {
        Some(tokens) => tokens,
        None => counter.count(text),
    }
}
