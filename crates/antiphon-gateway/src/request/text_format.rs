//! `text`: the output format and the verbosity.

use antiphon::json::{self, Object};
use serde_json::Value;

use super::strict_schema::check_strict_schema;
use super::values::{name, within};
use super::wrong_type;
use crate::error::ApiError;

const PATH: &str = "text.format";

/// The maximum length of a schema's name in characters.
const MAX_NAME: usize = 64;

/// Checks `text.verbosity` and `text.format`.
pub(super) fn check_text(fields: &Object<'_>) -> Result<(), ApiError> {
    let Some(raw) = fields.present("text") else { return Ok(()) };
    let text = Object::parse(raw.as_bytes()).map_err(|_| wrong_type("text", "an object", raw))?;
    check_verbosity(&text)?;
    let Some(raw) = text.present("format") else { return Ok(()) };
    let format = Object::parse(raw.as_bytes()).map_err(|_| wrong_type(PATH, "an object", raw))?;
    check_format(&format)
}

fn check_verbosity(text: &Object<'_>) -> Result<(), ApiError> {
    let path = "text.verbosity";
    let Some(raw) = text.present("verbosity") else { return Ok(()) };
    match json::unquote(raw).ok_or_else(|| wrong_type(path, "a string", raw))?.as_ref() {
        "low" | "medium" | "high" => Ok(()),
        other => Err(ApiError::InvalidValue {
            path: path.into(),
            value: other.into(),
            supported: &["low", "medium", "high"],
        }),
    }
}

fn check_format(format: &Object<'_>) -> Result<(), ApiError> {
    let kind = required(format, "type")?;
    match string("type", kind)?.as_ref() {
        "text" | "json_object" => Ok(()),
        "json_schema" => check_schema(format),
        other => {
            let supported = &["json_object", "json_schema", "text"];
            Err(ApiError::InvalidValue { path: path("type"), value: other.into(), supported })
        }
    }
}

fn check_schema(format: &Object<'_>) -> Result<(), ApiError> {
    let name_of_schema = string("name", required(format, "name")?)?;
    within(&path("name"), &name_of_schema, MAX_NAME)?;
    name(&path("name"), &name_of_schema)?;
    let raw = required(format, "schema")?;
    let schema: Value = serde_json::from_str(raw).map_err(|_| ApiError::NotJson)?;
    if !schema.is_object() {
        return Err(wrong_type(&path("schema"), "an object", raw));
    }
    match format.present("strict") {
        None | Some("false") => Ok(()),
        Some("true") => check_strict_schema(&name_of_schema, &schema),
        Some(raw) => Err(wrong_type(&path("strict"), "a boolean", raw)),
    }
}

fn required<'a>(format: &'a Object<'_>, key: &str) -> Result<&'a str, ApiError> {
    format.present(key).ok_or_else(|| ApiError::MissingParameter { name: path(key) })
}

fn string<'a>(key: &str, raw: &'a str) -> Result<std::borrow::Cow<'a, str>, ApiError> {
    json::unquote(raw).ok_or_else(|| wrong_type(&path(key), "a string", raw))
}

fn path(key: &str) -> String {
    format!("{PATH}.{key}")
}
