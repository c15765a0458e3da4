//! The input of a call, from its deltas and from its `tool-call`.
//!
//! In the `tool-call` of a model, the input is a string with JSON, for every encoding of the
//! deltas. In a `fullStream`, it is the parsed value, or the string itself if it is not JSON.

use std::borrow::Cow;

use serde_json::Value;

use super::part::Part;
use crate::json::{Object, quote, unquote};

/// The source of the stream parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Level {
    /// A model. Assumed until a part shows otherwise.
    #[default]
    Model,
    /// A run: a `fullStream`.
    Full,
}

/// The raw `arguments` of a function call, from its final input and from its deltas (the inside of
/// a JSON string). The final input takes precedence, but keeps the bytes of the deltas if both have
/// the same value. An empty input becomes an empty object, as in the AI SDK.
pub(super) fn arguments(input: Option<&str>, streamed: &str) -> String {
    let quoted = format!("\"{streamed}\"");
    let raw = input.unwrap_or_default();
    let json = unquote(raw).unwrap_or(Cow::Borrowed(raw));
    if json.trim().is_empty() {
        return if streamed.is_empty() { r#""{}""#.into() } else { quoted };
    }
    match has_same_value(streamed, &json) {
        true => quoted,
        false if raw.starts_with('"') => raw.to_owned(),
        false => quote(raw),
    }
}

/// The raw `input` of a custom tool call, by the same rules. The final input is the text itself, a
/// string with a JSON string, or an object with the only field `input`.
pub(super) fn text(input: Option<&str>, streamed: &str) -> String {
    let quoted = format!("\"{streamed}\"");
    let Some(raw) = input else { return quoted };
    match unquote(raw) {
        Some(text) if text.is_empty() || unquote(&quoted).as_deref() == Some(&*text) => quoted,
        Some(text) => contained_text(&text).unwrap_or_else(|| raw.to_owned()),
        None => contained_text(raw).unwrap_or_else(|| quote(raw)),
    }
}

/// Whether the input of a call to an unknown tool is a text rather than JSON.
pub(super) fn is_text(call: Part<'_>, level: Level) -> bool {
    let Some(text) = call.get("input").and_then(unquote) else {
        return false;
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::String(_)) => true,
        Ok(Value::Object(_)) => false,
        _ if text.is_empty() || call.is_true("invalid") => false,
        _ => level == Level::Full,
    }
}

/// The raw string in `json`: a JSON string, or an object with the only field `input`.
fn contained_text(json: &str) -> Option<String> {
    if serde_json::from_str::<Cow<'_, str>>(json).is_ok() {
        return Some(json.trim().to_owned());
    }
    let object = Object::parse(json.as_bytes()).ok()?;
    let input = object.get("input").filter(|raw| raw.starts_with('"'))?;
    (object.iter().count() == 1).then(|| input.to_owned())
}

/// Whether the JSON from the deltas (the inside of a JSON string) equals this JSON.
fn has_same_value(streamed: &str, json: &str) -> bool {
    let Some(streamed) = unquote(&format!("\"{streamed}\"")).map(Cow::into_owned) else {
        return false;
    };
    if streamed == json {
        return true;
    }
    let values = serde_json::from_str::<Value>(&streamed).ok().zip(serde_json::from_str(json).ok());
    values.is_some_and(|(one, two)| equal_values(&one, &two))
}

/// Compares numbers by value, because a run writes `2.0` as `2`.
fn equal_values(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => one.as_f64() == two.as_f64(),
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| equal_values(one, two))
        }
        (Value::Object(one), Value::Object(two)) => {
            let same = |(key, value)| two.get(key).is_some_and(|other| equal_values(value, other));
            one.len() == two.len() && one.iter().all(same)
        }
        _ => one == two,
    }
}
