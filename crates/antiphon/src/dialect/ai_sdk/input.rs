//! The input of a call: in pieces, and as its `tool-call` gives it.
//!
//! A model's `tool-call` gives it as a text, which holds JSON whatever the encoding of the pieces is;
//! a `fullStream`'s gives it as the value that the text holds, or, where it holds none, as the text.

use std::borrow::Cow;

use serde_json::Value;

use super::part::Part;
use crate::json::{Object, quote, unquote};

/// What a stream's parts are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Level {
    /// Of a model, as far as is known.
    #[default]
    Model,
    /// Of a run: a `fullStream`.
    Full,
}

/// The raw `arguments` of a function call: of its final input and what was said in pieces (the inside
/// of a JSON string). The final input counts, as the pieces wrote it where they say the same. An empty
/// input is an empty object, as the AI SDK has it.
pub(super) fn arguments(input: Option<&str>, said: &str) -> String {
    let told = format!("\"{said}\"");
    let raw = input.unwrap_or_default();
    let json = unquote(raw).unwrap_or(Cow::Borrowed(raw));
    if json.trim().is_empty() {
        return if said.is_empty() { r#""{}""#.into() } else { told };
    }
    match says_the_same(said, &json) {
        true => told,
        false if raw.starts_with('"') => raw.to_owned(),
        false => quote(raw),
    }
}

/// The raw `input` of a custom tool's call, in the same way. Its text stands in the final input as it
/// is, as a JSON string in a text, or as the only field `input` of an object.
pub(super) fn text(input: Option<&str>, said: &str) -> String {
    let told = format!("\"{said}\"");
    let Some(raw) = input else { return told };
    match unquote(raw) {
        Some(text) if text.is_empty() || unquote(&told).as_deref() == Some(&*text) => told,
        Some(text) => held_text(&text).unwrap_or_else(|| raw.to_owned()),
        None => held_text(raw).unwrap_or_else(|| quote(raw)),
    }
}

/// Whether the input of a call, of whose tool nothing is known, is a text rather than JSON.
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

/// The raw string that a JSON string, or an object with the only field `input`, holds.
fn held_text(json: &str) -> Option<String> {
    if serde_json::from_str::<Cow<'_, str>>(json).is_ok() {
        return Some(json.trim().to_owned());
    }
    let object = Object::parse(json.as_bytes()).ok()?;
    let input = object.get("input").filter(|raw| raw.starts_with('"'))?;
    (object.iter().count() == 1).then(|| input.to_owned())
}

/// Whether the JSON that was said (the inside of a JSON string) and this JSON hold the same.
fn says_the_same(said: &str, json: &str) -> bool {
    let Some(said) = unquote(&format!("\"{said}\"")).map(Cow::into_owned) else {
        return false;
    };
    if said == json {
        return true;
    }
    let values = serde_json::from_str::<Value>(&said).ok().zip(serde_json::from_str(json).ok());
    values.is_some_and(|(one, two)| is_same(&one, &two))
}

/// Numbers count by their value: a run writes `2.0` as `2`.
fn is_same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => one.as_f64() == two.as_f64(),
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| is_same(one, two))
        }
        (Value::Object(one), Value::Object(two)) => {
            let same = |(key, value)| two.get(key).is_some_and(|other| is_same(value, other));
            one.len() == two.len() && one.iter().all(same)
        }
        _ => one == two,
    }
}
