//! The tools of a request.

use std::collections::HashSet;

use super::tool_choice::Choice;
use super::{Body, ChatOmissions, unsupported};
use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::request::{Request, RequestPath, Unsupported, missing_name};
use crate::dialect::tools::{DeclaredTool, DeclaredTools, HostedTool, InvalidTools};
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

    pub(super) fn function(name: &str) -> Self {
        Self { kind: "function".to_owned(), name: name.to_owned() }
    }

    /// The key of a tool without a name.
    fn hosted(kind: &str) -> Self {
        Self { kind: kind.to_owned(), name: String::new() }
    }
}

/// The tools of a request.
pub(super) fn declared(request: Request<'_>) -> Result<DeclaredTools<'_>, Unsupported> {
    DeclaredTools::from_request(request.fields, request.items).map_err(|error| match error {
        InvalidTools::NotAnArray(path) => {
            unsupported(RequestPath::field(path), "expected an array")
        }
        InvalidTools::NotAnObject(path) => {
            unsupported(RequestPath::field(path), "expected an object")
        }
        InvalidTools::Nameless(path) => missing_name(&path),
    })
}

/// Writes `tools`, `tool_choice` and `parallel_tool_calls`. Servers reject the latter two without
/// tools. `parallel_tool_calls` is true by default.
///
/// With `allowed_tools`, only those tools are sent, so the model cannot call others.
pub(super) fn encode(
    request: &Object<'_>,
    declared: &DeclaredTools<'_>,
    body: &mut Body,
    omissions: &mut ChatOmissions,
) -> Result<(), Unsupported> {
    let choice = Choice::from_request(request, declared)?;
    let tools = Tools::encode(declared, &choice, omissions)?;
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
    /// request does not use them. Hosted tools are left out.
    fn encode(
        declared: &DeclaredTools<'_>,
        choice: &Choice,
        omissions: &mut ChatOmissions,
    ) -> Result<Self, Unsupported> {
        let mut tools = Self::default();
        for DeclaredTool { path, definition, is_found } in &declared.tools {
            let key = ToolKey::from_tool(definition);
            if !choice.allows(&key) {
                continue;
            }
            match encode_tool(path, definition) {
                Ok(encoded) => {
                    tools.encoded.push(encoded);
                    tools.keys.insert(key);
                }
                Err(_) if *is_found => {
                    let because = "it cannot carry this tool, which a search found";
                    omissions.leave_out(RequestPath::field(path), because);
                }
                Err(error) => return Err(error),
            }
        }
        for HostedTool { path, kind, .. } in &declared.hosted {
            if choice.allows(&ToolKey::hosted(kind)) {
                let because = format!("it has no equivalent of the tool '{kind}'");
                omissions.leave_out(RequestPath::field(path), &because);
            }
        }
        Ok(tools)
    }
}

const FUNCTION: &[&str] = &["name", "description", "parameters", "strict"];
const CUSTOM: &[&str] = &["name", "description", "format"];

/// A tool in the form of Chat Completions: the definition under its type. Values keep their bytes;
/// unknown fields are written next to the definition.
fn encode_tool(path: &str, tool: &Object<'_>) -> Result<String, Unsupported> {
    let is_nameless = tool.string("name").is_none_or(|name| name.is_empty());
    match tool.string("type").as_deref() {
        Some("function" | "custom") if is_nameless => Err(missing_name(path)),
        Some("function") => {
            let definition =
                Fields::new().all(present(tool, |name| FUNCTION.contains(&name))).json();
            Ok(nest_definition("function", &definition, tool, FUNCTION))
        }
        Some("custom") => {
            let described = present(tool, |name| matches!(name, "name" | "description"));
            let format = format(path, tool)?;
            let definition =
                Fields::new().all(described).present("format", format.as_deref()).json();
            Ok(nest_definition("custom", &definition, tool, CUSTOM))
        }
        _ => {
            let place = RequestPath::field(format!("{path}.type"));
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
fn format(path: &str, tool: &Object<'_>) -> Result<Option<String>, Unsupported> {
    let Some(raw) = tool.present("format") else { return Ok(None) };
    let refused = |because| unsupported(RequestPath::field(format!("{path}.format")), because);
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
