//! `tools`.

use antiphon::json::{self, Object};
use serde_json::value::RawValue;

use super::text::{name, within};
use super::wrong;
use crate::error::ApiError;

/// How many tools a request may name.
const MAX_TOOLS: usize = 128;

/// The longest name of a tool, in characters, that any provider takes (Anthropic's API). Open Responses
/// has 64; what is between the two is the upstream's to judge.
const MAX_NAME: usize = 128;

/// A list of at most 128 objects, each with a `type`. Functions and custom tools have a name. What else
/// a tool needs depends on its type, and is the upstream's to know.
pub(super) fn check_tools(fields: &Object<'_>) -> Result<(), ApiError> {
    let Some(raw) = fields.present("tools") else { return Ok(()) };
    let tools: Vec<&RawValue> =
        serde_json::from_str(raw).map_err(|_| wrong("tools", "an array", raw))?;
    if tools.len() > MAX_TOOLS {
        return Err(ApiError::array_too_long("tools", MAX_TOOLS, tools.len()));
    }
    for (position, tool) in tools.iter().enumerate() {
        let path = format!("tools[{position}]");
        let tool = typed_object(&path, tool.get())?;
        if matches!(tool.string("type").as_deref(), Some("function" | "custom")) {
            check_name(&tool, &format!("{path}.name"))?;
        }
    }
    Ok(())
}

fn check_name(tool: &Object<'_>, path: &str) -> Result<(), ApiError> {
    let raw = tool.present("name").ok_or_else(|| ApiError::missing_parameter(path))?;
    let text = json::unquote(raw).ok_or_else(|| wrong(path, "a string", raw))?;
    within(path, &text, MAX_NAME)?;
    name(path, &text)
}

/// The object at `path`, which says of what `type` it is.
pub(super) fn typed_object<'a>(path: &str, raw: &'a str) -> Result<Object<'a>, ApiError> {
    let object = Object::parse(raw.as_bytes()).map_err(|_| wrong(path, "an object", raw))?;
    let path = format!("{path}.type");
    let Some(kind) = object.present("type") else {
        return Err(ApiError::missing_parameter(&path));
    };
    if !kind.starts_with('"') {
        return Err(wrong(&path, "a string", kind));
    }
    Ok(object)
}
