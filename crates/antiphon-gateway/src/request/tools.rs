//! `tools`.

use antiphon::json::{self, Object};
use serde_json::value::RawValue;

use super::values::{name, within};
use super::wrong_type;
use crate::error::ApiError;

/// The maximum number of tools in a request.
const MAX_TOOLS: usize = 128;

/// The maximum length of a tool's name in characters, in the most permissive API (Anthropic's).
/// Open Responses permits 64. The upstream checks lengths between the two.
const MAX_NAME: usize = 128;

/// Checks that `tools` is a list of at most 128 objects, each with a `type`. Functions and custom
/// tools must have a name. The upstream checks the other fields of a tool, which depend on its
/// type.
pub(super) fn check_tools(fields: &Object<'_>) -> Result<(), ApiError> {
    let Some(raw) = fields.present("tools") else { return Ok(()) };
    let tools: Vec<&RawValue> =
        serde_json::from_str(raw).map_err(|_| wrong_type("tools", "an array", raw))?;
    if tools.len() > MAX_TOOLS {
        return Err(ApiError::ArrayTooLong {
            path: "tools".into(),
            maximum: MAX_TOOLS,
            length: tools.len(),
        });
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
    let raw =
        tool.present("name").ok_or_else(|| ApiError::MissingParameter { name: path.into() })?;
    let text = json::unquote(raw).ok_or_else(|| wrong_type(path, "a string", raw))?;
    within(path, &text, MAX_NAME)?;
    name(path, &text)
}

/// Parses the object at `path`, and checks that it has a `type`.
pub(super) fn typed_object<'a>(path: &str, raw: &'a str) -> Result<Object<'a>, ApiError> {
    let object = Object::parse(raw.as_bytes()).map_err(|_| wrong_type(path, "an object", raw))?;
    let path = format!("{path}.type");
    let Some(kind) = object.present("type") else {
        return Err(ApiError::MissingParameter { name: path.clone() });
    };
    if !kind.starts_with('"') {
        return Err(wrong_type(&path, "a string", kind));
    }
    Ok(object)
}
