//! The tools of a request.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::tool_choice::Choice;
use super::{Body, unsupported};
use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::request::{RequestPath, Unsupported, missing_name};
use crate::json::Object;

/// The key of a tool: its type and its name. Hosted tools have no name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ToolKey {
    pub(super) kind: String,
    pub(super) name: String,
}

impl ToolKey {
    pub(super) fn from_tool(tool: &Object<'_>) -> Self {
        let text = |field| tool.string(field).map_or_else(String::new, String::from);
        Self { kind: text("type"), name: text("name") }
    }
}

/// Writes `tools`, `tool_choice` and `parallel_tool_calls`. Servers reject the latter two without
/// tools. `parallel_tool_calls` is true by default.
///
/// With `allowed_tools`, only those tools are sent, so the model cannot call others.
pub(super) fn encode(request: &Object<'_>, body: &mut Body) -> Result<(), Unsupported> {
    let choice = Choice::from_request(request)?;
    let tools = Tools::parse(request.present("tools"), &choice)?;
    let tool_choice = choice.encode(&tools.keys)?;
    if tools.encoded.is_empty() {
        return Ok(());
    }
    body.raw("tools", &array(&tools.encoded));
    body.present("tool_choice", tool_choice.as_deref());
    let parallel = request.present("parallel_tool_calls").filter(|parallel| *parallel != "true");
    body.present("parallel_tool_calls", parallel);
    Ok(())
}

#[derive(Default)]
struct Tools {
    keys: HashSet<ToolKey>,
    encoded: Vec<String>,
}

impl Tools {
    /// The tools of a request that its choice allows. Other tools are not checked, because the
    /// request does not use them.
    fn parse(tools: Option<&str>, choice: &Choice) -> Result<Self, Unsupported> {
        let raws: Vec<&RawValue> = match tools {
            None => Vec::new(),
            Some(tools) => serde_json::from_str(tools)
                .map_err(|_| unsupported(RequestPath::field("tools"), "expected an array"))?,
        };
        let mut tools = Self::default();
        for (position, raw) in raws.iter().enumerate() {
            let tool = Object::parse(raw.get().as_bytes()).map_err(|_| {
                unsupported(RequestPath::field(format!("tools[{position}]")), "expected an object")
            })?;
            let key = ToolKey::from_tool(&tool);
            if choice.allows(&key) {
                tools.encoded.push(encode_tool(position, &tool)?);
                tools.keys.insert(key);
            }
        }
        Ok(tools)
    }
}

const FUNCTION: &[&str] = &["name", "description", "parameters", "strict"];
const CUSTOM: &[&str] = &["name", "description", "format"];

/// A tool in the form of Chat Completions: the definition under its type. Values keep their bytes;
/// unknown fields are written next to the definition.
fn encode_tool(position: usize, tool: &Object<'_>) -> Result<String, Unsupported> {
    let is_nameless = tool.string("name").is_none_or(|name| name.is_empty());
    match tool.string("type").as_deref() {
        Some("function" | "custom") if is_nameless => Err(missing_name(position)),
        Some("function") => {
            let definition =
                Fields::new().all(present(tool, |name| FUNCTION.contains(&name))).json();
            Ok(nest_definition("function", &definition, tool, FUNCTION))
        }
        Some("custom") => {
            let described = present(tool, |name| matches!(name, "name" | "description"));
            let format = format(position, tool)?;
            let definition =
                Fields::new().all(described).present("format", format.as_deref()).json();
            Ok(nest_definition("custom", &definition, tool, CUSTOM))
        }
        _ => {
            let place = RequestPath::field(format!("tools[{position}].type"));
            Err(unsupported(place, "its tools are functions and custom tools"))
        }
    }
}

fn nest_definition(kind: &str, definition: &str, tool: &Object<'_>, defining: &[&str]) -> String {
    let others = present(tool, |name| name != "type" && !defining.contains(&name));
    Fields::with_type(kind).raw(kind, definition).all(others).json()
}

/// The fields with a value whose name `is_meant`.
fn present<'a>(
    object: &'a Object<'_>,
    is_meant: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    object.iter().filter(move |(name, raw)| *raw != "null" && is_meant(name))
}

/// The format of a custom tool's input; free text is the default. A grammar is nested one level
/// deeper than in the Responses API.
fn format(position: usize, tool: &Object<'_>) -> Result<Option<String>, Unsupported> {
    let Some(raw) = tool.present("format") else { return Ok(None) };
    let refused =
        |because| unsupported(RequestPath::field(format!("tools[{position}].format")), because);
    let format = Object::parse(raw.as_bytes()).map_err(|_| refused("expected an object"))?;
    match format.string("type").as_deref() {
        Some("text") => Ok(None),
        Some("grammar") => {
            let grammar = Fields::new().all(present(&format, |name| name != "type")).json();
            Ok(Some(Fields::with_type("grammar").raw("grammar", &grammar).json()))
        }
        _ => Err(refused("its formats are text and grammar")),
    }
}
