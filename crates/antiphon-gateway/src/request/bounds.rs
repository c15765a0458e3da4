//! What fields may hold that are passed on without being looked into.

use antiphon::json::{self, Object};

use super::{boolean, wrong};
use crate::error::ApiError;

/// How many tools a request may name.
const MAX_TOOLS: usize = 128;

/// Types and bounds, in the provider's words.
pub(super) fn check_bounds(fields: &Object<'_>) -> Result<(), ApiError> {
    if let Some(raw) = fields.present("tools") {
        let tools: Vec<&serde_json::value::RawValue> =
            serde_json::from_str(raw).map_err(|_| wrong("tools", "an array", raw))?;
        if tools.len() > MAX_TOOLS {
            return Err(ApiError::array_too_long("tools", MAX_TOOLS, tools.len()));
        }
    }
    check_types(fields)?;
    metadata(fields)?;
    background(fields)
}

/// Fields that are not looked into are still of one type each.
const TYPES: [(&str, &str, &[&str]); 15] = [
    ("instructions", "a string", &["a string"]),
    ("temperature", "a number", &["a decimal", "an integer"]),
    ("top_p", "a number", &["a decimal", "an integer"]),
    ("top_logprobs", "an integer", &["an integer"]),
    ("max_output_tokens", "an integer", &["an integer"]),
    ("max_tool_calls", "an integer", &["an integer"]),
    ("parallel_tool_calls", "a boolean", &["a boolean"]),
    ("truncation", "a string", &["a string"]),
    ("service_tier", "a string", &["a string"]),
    ("user", "a string", &["a string"]),
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
            return Err(wrong(key, expected, raw));
        }
    }
    Ok(())
}

/// `background`: who does not wait for a response can only look it up.
fn background(fields: &Object<'_>) -> Result<(), ApiError> {
    match (boolean(fields, "background")?, boolean(fields, "store")?) {
        (Some(true), Some(false)) => {
            Err(ApiError::invalid("Background responses require 'store' to be true.")
                .code("invalid_value")
                .param("background"))
        }
        _ => Ok(()),
    }
}

/// `metadata`: at most 16 pairs of strings, keys up to 64 and values up to 512 characters.
pub(crate) fn metadata(fields: &Object<'_>) -> Result<Option<String>, ApiError> {
    let Some(raw) = fields.present("metadata") else {
        return Ok(None);
    };
    let object = Object::parse(raw.as_bytes()).map_err(|_| wrong("metadata", "an object", raw))?;
    let pairs = object.iter().count();
    if pairs > 16 {
        return Err(ApiError::invalid(format!(
            "Invalid 'metadata': too many properties. Expected an object with at most 16 \
             properties, but got an object with {pairs} properties instead."
        ))
        .code("object_above_max_properties")
        .param("metadata"));
    }
    for (key, raw) in object.iter() {
        let path = format!("metadata.{key}");
        let value = json::unquote(raw).ok_or_else(|| wrong(&path, "a string", raw))?;
        within(&path, key, 64)?;
        within(&path, &value, 512)?;
    }
    Ok(Some(raw.to_owned()))
}

fn within(path: &str, text: &str, maximum: usize) -> Result<(), ApiError> {
    let length = text.chars().count();
    if length <= maximum {
        return Ok(());
    }
    Err(ApiError::invalid(format!(
        "Invalid '{path}': string too long. Expected a string with maximum length {maximum}, but \
         got a string with length {length} instead."
    ))
    .code("string_above_max_length")
    .param(path))
}
