//! Checks of fields that pass to the upstream without interpretation.

use antiphon::json::{self, Object};
use antiphon::stream::Obfuscation;

use super::text_format::check_text;
use super::tool_choice::check_tool_choice;
use super::tools::check_tools;
use super::values::{check_numbers, metadata, within};
use super::{boolean, string, wrong_type};
use crate::error::ApiError;

/// Checks types and bounds, with the provider's error texts. The upstream checks names whose valid
/// values depend on the model (`reasoning.effort`, `reasoning.summary`, `service_tier`).
pub(super) fn check_bounds(fields: &Object<'_>) -> Result<(), ApiError> {
    check_tools(fields)?;
    check_types(fields)?;
    check_numbers(fields)?;
    check_texts(fields)?;
    check_text(fields)?;
    check_tool_choice(fields)?;
    check_prompt(fields)?;
    check_stream_options(fields)?;
    metadata(fields)?;
    background(fields)
}

/// Fields with a checked type, and the accepted types.
const TYPES: [(&str, &str, &[&str]); 20] = [
    ("instructions", "a string", &["a string"]),
    ("temperature", "a number", &["a decimal", "an integer"]),
    ("top_p", "a number", &["a decimal", "an integer"]),
    ("presence_penalty", "a number", &["a decimal", "an integer"]),
    ("frequency_penalty", "a number", &["a decimal", "an integer"]),
    ("top_logprobs", "an integer", &["an integer"]),
    ("max_output_tokens", "an integer", &["an integer"]),
    ("max_tool_calls", "an integer", &["an integer"]),
    ("parallel_tool_calls", "a boolean", &["a boolean"]),
    ("truncation", "a string", &["a string"]),
    ("service_tier", "a string", &["a string"]),
    ("user", "a string", &["a string"]),
    ("safety_identifier", "a string", &["a string"]),
    ("prompt_cache_key", "a string", &["a string"]),
    ("prompt_cache_retention", "a string", &["a string"]),
    ("reasoning", "an object", &["an object"]),
    ("text", "an object", &["an object"]),
    ("stream_options", "an object", &["an object"]),
    ("prompt", "an object", &["an object"]),
    ("tool_choice", "a string or an object", &["a string", "an object"]),
];

fn check_types(fields: &Object<'_>) -> Result<(), ApiError> {
    for (key, expected, types) in TYPES {
        if let Some(raw) = fields.present(key).filter(|raw| !types.contains(&json::type_name(raw)))
        {
            return Err(wrong_type(key, expected, raw));
        }
    }
    let reasoning = fields.present("reasoning").unwrap_or("{}");
    let reasoning = Object::parse(reasoning.as_bytes()).map_err(|_| ApiError::NotJson)?;
    for key in ["effort", "summary"] {
        if let Some(raw) = reasoning.present(key).filter(|raw| json::unquote(raw).is_none()) {
            return Err(wrong_type(&format!("reasoning.{key}"), "a string", raw));
        }
    }
    Ok(())
}

/// `background` requires `store`, because the caller can only read the response later.
fn background(fields: &Object<'_>) -> Result<(), ApiError> {
    match (boolean(fields, "background")?, boolean(fields, "store")?) {
        (Some(true), Some(false)) => Err(ApiError::BackgroundWithoutStore),
        _ => Ok(()),
    }
}

/// Checks the length of the caller's identifiers and the value of `truncation`.
///
/// Sources: the official client's types for `safety_identifier`, the Open Responses specification
/// for `prompt_cache_key`.
fn check_texts(fields: &Object<'_>) -> Result<(), ApiError> {
    for (key, longest) in [("safety_identifier", 128), ("prompt_cache_key", 64)] {
        within(key, &string(fields, key)?.unwrap_or_default(), longest)?;
    }
    match string(fields, "truncation")?.as_deref() {
        None | Some("auto" | "disabled") => Ok(()),
        Some(other) => Err(ApiError::InvalidValue {
            path: "truncation".into(),
            value: other.into(),
            supported: &["auto", "disabled"],
        }),
    }
}

/// Checks that `prompt` has an `id`, and the types of `version` and `variables`. The upstream
/// checks the values.
fn check_prompt(fields: &Object<'_>) -> Result<(), ApiError> {
    let Some(raw) = fields.present("prompt") else { return Ok(()) };
    let prompt =
        Object::parse(raw.as_bytes()).map_err(|_| wrong_type("prompt", "an object", raw))?;
    if prompt.present("id").is_none() {
        return Err(ApiError::MissingParameter { name: "prompt.id".into() });
    }
    for (key, expected) in [("id", "a string"), ("version", "a string"), ("variables", "an object")]
    {
        if let Some(raw) = prompt.present(key).filter(|raw| json::type_name(raw) != expected) {
            return Err(wrong_type(&format!("prompt.{key}"), expected, raw));
        }
    }
    Ok(())
}

/// Checks that the only option of `stream_options` is a boolean.
fn check_stream_options(fields: &Object<'_>) -> Result<(), ApiError> {
    match include_obfuscation(fields).as_deref() {
        None | Some("true" | "false") => Ok(()),
        Some(raw) => Err(wrong_type("stream_options.include_obfuscation", "a boolean", raw)),
    }
}

/// The obfuscation mode of the stream's deltas.
pub(super) fn obfuscation(fields: &Object<'_>) -> Obfuscation {
    match include_obfuscation(fields).as_deref() {
        Some("true") => Obfuscation::Padded,
        Some("false") => Obfuscation::Plain,
        _ => Obfuscation::AsItComes,
    }
}

fn include_obfuscation(fields: &Object<'_>) -> Option<String> {
    let options = Object::parse(fields.present("stream_options")?.as_bytes()).ok()?;
    options.present("include_obfuscation").map(str::to_owned)
}
