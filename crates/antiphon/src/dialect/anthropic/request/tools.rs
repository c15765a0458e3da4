//! Tools and the schemas of their inputs.

use std::collections::HashSet;

use super::conversation::Conversation;
use super::tool_choice::ToolChoice;
use super::{AnthropicOmissions, unsupported};
use crate::dialect::request::{Request, RequestPath, Unsupported, missing_name};
use crate::dialect::tools::{DeclaredTool, DeclaredTools, HostedTool, InvalidTools};
use crate::json::{Object, quote};

/// The input schema of a tool without `parameters`.
const ANY_INPUT: &str = r#"{"type":"object","properties":{}}"#;

/// The input schema of a custom tool: Anthropic has no tools with a text as input.
const TEXT_INPUT: &str = concat!(
    r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"#,
    r#""additionalProperties":false}"#,
);

/// The tools to send, as raw JSON.
pub(super) struct Tools(Vec<String>);

impl Tools {
    /// The tools of the request that its `tool_choice` allows. Tools that another provider runs are
    /// left out.
    pub(super) fn from_declared(
        declared: &DeclaredTools<'_>,
        choice: &ToolChoice,
        omissions: &mut AnthropicOmissions,
    ) -> Result<Self, Unsupported> {
        let mut sent = Vec::with_capacity(declared.tools.len());
        for tool in &declared.tools {
            if choice.allows(&name_of(&tool.definition)) {
                sent.push(encode_tool(tool, omissions)?);
            }
        }
        for hosted in &declared.hosted {
            let HostedTool { path, kind, .. } = hosted;
            if let Some(own) = own_definition(hosted) {
                sent.extend(choice.allows(kind).then(|| own.to_owned()));
            } else if choice.allows(kind) {
                let why =
                    format!("the Anthropic Messages API has no equivalent of the tool '{kind}'");
                omissions.leave_out(RequestPath::field(path), &why);
            }
        }
        Ok(Self(sent))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the tools and the choice. A conversation with calls must define tools ("Requests
    /// which include `tool_use` or `tool_result` blocks must define tools"). If the request has no
    /// tools, the called tools are defined by name, and the choice forbids calls.
    pub(super) fn write(
        self,
        choice: &ToolChoice,
        conversation: &Conversation,
        body: &mut Object<'_>,
    ) {
        if !self.0.is_empty() {
            body.set("tools", format!("[{}]", self.0.join(",")));
            if let Some(choice) = choice.to_json() {
                body.set("tool_choice", choice);
            }
        } else if !conversation.called().is_empty() {
            let called = conversation.called().iter();
            let tools: Vec<String> =
                called.map(|name| tool(&quote(name), None, ANY_INPUT)).collect();
            body.set("tools", format!("[{}]", tools.join(",")));
            body.set("tool_choice", r#"{"type":"none"}"#);
        }
    }
}

/// The tools of a request.
pub(super) fn declared(request: Request<'_>) -> Result<DeclaredTools<'_>, Unsupported> {
    DeclaredTools::from_request(request.fields, request.items).map_err(|error| match error {
        InvalidTools::Nameless(path) => missing_name(&path),
        InvalidTools::NotAnArray(_) | InvalidTools::NotAnObject(_) => {
            let why = "a tool in the Anthropic Messages API is an object";
            unsupported(RequestPath::field("tools"), why)
        }
    })
}

/// The names of the tools to send; a tool without a name is listed by type.
pub(super) fn names(declared: &DeclaredTools<'_>) -> HashSet<String> {
    let tools = declared.tools.iter().map(|tool| name_of(&tool.definition));
    tools.chain(declared.hosted.iter().filter_map(own_name)).collect()
}

/// The definition of a tool of Anthropic's own: the `content` of an `anthropic:` tool.
fn own_definition(tool: &HostedTool) -> Option<&str> {
    tool.content.as_deref().filter(|_| tool.kind.starts_with("anthropic:"))
}

/// The name of a tool of Anthropic's own.
pub(super) fn own_name(tool: &HostedTool) -> Option<String> {
    let definition = Object::parse_str(own_definition(tool)?).ok()?;
    definition.string("name").map(std::borrow::Cow::into_owned)
}

fn name_of(tool: &Object<'_>) -> String {
    let name = tool.string("name").or_else(|| tool.string("type"));
    name.unwrap_or_default().into_owned()
}

fn encode_tool(
    DeclaredTool { path, definition, .. }: &DeclaredTool<'_>,
    omissions: &mut AnthropicOmissions,
) -> Result<String, Unsupported> {
    let description = definition.present("description");
    let kind = definition.string("type").unwrap_or_default();
    let needs_name = matches!(&*kind, "function" | "custom");
    let name = definition.present("name").filter(|raw| *raw != r#""""#);
    let Some(name) = name.or((!needs_name).then_some("")) else {
        return Err(missing_name(path));
    };
    match &*kind {
        "function" => {
            let strict = definition.is_true("strict").then_some(("strict", "true"));
            let mark = definition.present("cache_control").map(|mark| ("cache_control", mark));
            let mut tool = tool(name, description, &input_schema(definition));
            for (key, raw) in strict.into_iter().chain(mark) {
                tool.truncate(tool.len() - 1);
                for part in [",\"", key, "\":", raw, "}"] {
                    tool.push_str(part);
                }
            }
            Ok(tool)
        }
        "custom" => {
            if has_grammar(definition) {
                let why = "the Anthropic Messages API has no grammars for the input of a tool";
                omissions.leave_out(RequestPath::field(format!("{path}.format")), why);
            }
            Ok(tool(name, description, TEXT_INPUT))
        }
        other => {
            let why = format!("the Anthropic Messages API has no equivalent of the tool '{other}'");
            Err(unsupported(RequestPath::field(format!("{path}.type")), &why))
        }
    }
}

fn tool(name: &str, description: Option<&str>, schema: &str) -> String {
    let description = description.map(|raw| format!(r#""description":{raw},"#)).unwrap_or_default();
    format!(r#"{{"name":{name},{description}"input_schema":{schema}}}"#)
}

/// A function's `parameters`, with the `type` that Anthropic requires.
fn input_schema(definition: &Object<'_>) -> String {
    let schema =
        definition.present("parameters").and_then(|raw| Object::parse(raw.as_bytes()).ok());
    match schema {
        None => ANY_INPUT.to_owned(),
        Some(mut schema) => {
            if schema.present("type").is_none() {
                schema.set_first("type", r#""object""#);
            }
            schema.to_text()
        }
    }
}

fn has_grammar(definition: &Object<'_>) -> bool {
    let format = definition.present("format").and_then(|raw| Object::parse(raw.as_bytes()).ok());
    format.is_some_and(|format| format.string("type").as_deref() != Some("text"))
}
