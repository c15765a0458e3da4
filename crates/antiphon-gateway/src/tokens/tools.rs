//! Counts the tokens of tools and schemas.

use serde_json::Value;

use super::vocabulary::Counter;

/// The overhead of a tool. Source: OpenAI's recipe for counting a chat's tokens.
const TOOL: u64 = 7;

/// Fields of a tool for its server, which the model does not receive.
const UNSEEN: [&str; 6] =
    ["strict", "server_url", "connector_id", "headers", "authorization", "vector_store_ids"];

/// The tokens of the tools in this JSON.
pub(super) fn count_tools(counter: &mut Counter, tools: &str) -> u64 {
    match serde_json::from_str(tools) {
        Ok(Value::Array(tools)) => {
            tools.iter().map(|tool| TOOL + count_schema(counter, tool)).sum()
        }
        // Nested too deeply to parse: count the JSON text.
        _ => counter.count(tools),
    }
}

/// The tokens of the output format in the field `text`.
pub(super) fn count_format(counter: &mut Counter, text: &str) -> u64 {
    match serde_json::from_str::<Value>(text) {
        Ok(text) => count_schema(counter, &text["format"]["schema"]),
        Err(_) => counter.count(text),
    }
}

/// Servers serialize schemas in their own forms. All of these contain the same words: the keys and
/// the values.
fn count_schema(counter: &mut Counter, schema: &Value) -> u64 {
    match schema {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(number) => counter.count(&number.to_string()),
        Value::String(text) => counter.count(text),
        Value::Array(values) => values.iter().map(|value| count_schema(counter, value)).sum(),
        Value::Object(fields) => {
            let seen = fields.iter().filter(|(key, _)| !UNSEEN.contains(&key.as_str()));
            seen.map(|(key, value)| counter.count(key) + count_schema(counter, value)).sum()
        }
    }
}
