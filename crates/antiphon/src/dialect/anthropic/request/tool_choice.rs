//! The tools that a model may or must call.

use std::collections::HashSet;

use super::tools::own_name;
use super::unsupported;
use crate::dialect::request::{RequestPath, Unsupported};
use crate::dialect::tools::DeclaredTools;
use crate::json::{Object, quote, unquote};

/// `tool_choice` and `parallel_tool_calls`.
pub(super) struct ToolChoice {
    mode: Mode,
    /// The tools to send; `None` means all. A function or custom tool is listed by name, any other
    /// tool by type.
    allowed: Option<HashSet<String>>,
    is_parallel: bool,
}

enum Mode {
    /// The request has no `tool_choice`: the model decides.
    Unspecified,
    Auto,
    None,
    Any,
    /// This tool, by its raw name.
    Tool(String),
}

impl ToolChoice {
    pub(super) fn from_fields(
        fields: &Object<'_>,
        declared: &DeclaredTools<'_>,
    ) -> Result<Self, Unsupported> {
        let is_parallel = fields.get("parallel_tool_calls") != Some("false");
        let (mode, allowed) = match fields.present("tool_choice") {
            None => (Mode::Unspecified, None),
            Some(raw) if raw.starts_with('"') => (Mode::parse(raw)?, None),
            Some(raw) => parse_object(raw, declared)?,
        };
        Ok(Self { mode, allowed, is_parallel })
    }

    /// Rejects a choice of tools that the request does not define, as the Responses API does.
    pub(super) fn check_defined(&self, tools: &HashSet<String>) -> Result<(), Unsupported> {
        let absent = |name: &&String| !tools.contains(*name);
        let named = match &self.mode {
            Mode::Tool(name) => unquote(name).map(std::borrow::Cow::into_owned),
            _ => None,
        };
        let chosen = self.allowed.iter().flatten().chain(&named).find(absent);
        if let Some(name) = chosen {
            let why = format!("the Anthropic Messages API needs '{name}' in 'tools' to choose it");
            return Err(unsupported(RequestPath::field("tool_choice"), &why));
        }
        let is_empty = self.allowed.as_ref().map_or(tools.is_empty(), HashSet::is_empty);
        if matches!(self.mode, Mode::Any) && is_empty {
            let why = "the Anthropic Messages API needs a tool if the model must call one";
            return Err(unsupported(RequestPath::field("tool_choice"), why));
        }
        Ok(())
    }

    /// Whether to send the tool with this name (or this type, if it has no name).
    pub(super) fn allows(&self, tool: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(tool))
    }

    /// Whether the model must call a tool.
    pub(super) fn forces(&self) -> bool {
        matches!(self.mode, Mode::Any | Mode::Tool(_))
    }

    /// Anthropic's `tool_choice`; `None` for the model's default.
    pub(super) fn to_json(&self) -> Option<String> {
        let mut choice = match &self.mode {
            Mode::None => return Some(r#"{"type":"none"}"#.to_owned()),
            Mode::Unspecified if self.is_parallel => return None,
            Mode::Unspecified | Mode::Auto => r#"{"type":"auto""#.to_owned(),
            Mode::Any => r#"{"type":"any""#.to_owned(),
            Mode::Tool(name) => format!(r#"{{"type":"tool","name":{name}"#),
        };
        if !self.is_parallel {
            choice.push_str(r#","disable_parallel_tool_use":true"#);
        }
        choice.push('}');
        Some(choice)
    }
}

impl Mode {
    fn parse(raw: &str) -> Result<Self, Unsupported> {
        match &*unquote(raw).unwrap_or_default() {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            "required" => Ok(Self::Any),
            other => Err(unknown(other)),
        }
    }
}

/// Parses a `tool_choice` object into the mode and the allowed tools.
fn parse_object(
    raw: &str,
    declared: &DeclaredTools<'_>,
) -> Result<(Mode, Option<HashSet<String>>), Unsupported> {
    let choice = Object::parse(raw.as_bytes()).map_err(|_| unknown(raw))?;
    let kind = choice.string("type").unwrap_or_default();
    match &*kind {
        "function" | "custom" => match choice.present("name") {
            Some(_) => Ok((Mode::Tool(quote(&declared.chosen_name(&choice))), None)),
            None => Err(unknown("a tool without a name")),
        },
        "allowed_tools" => {
            let mode =
                choice.string("mode").map_or(Ok(Mode::Auto), |mode| Mode::parse(&quote(&mode)))?;
            let named = choice.objects("tools").into_iter();
            let named: Result<_, _> = named.map(|tool| name_or_type(&tool, declared)).collect();
            Ok((mode, Some(named?)))
        }
        kind if declared.is_hosted(&choice) => {
            let tool = declared.hosted.iter().find(|tool| tool.kind == kind);
            let name = tool.and_then(own_name).ok_or_else(|| left_out(kind))?;
            Ok((Mode::Tool(quote(&name)), None))
        }
        other => Err(unknown(other)),
    }
}

/// The name under which the model knows a tool, or the type of a tool without a name.
fn name_or_type(tool: &Object<'_>, declared: &DeclaredTools<'_>) -> Result<String, Unsupported> {
    let kind = tool.string("type").unwrap_or_default();
    match tool.string("name") {
        _ if declared.is_hosted(tool) => Err(left_out(&kind)),
        Some(_) => Ok(declared.chosen_name(tool)),
        None => Ok(kind.into_owned()),
    }
}

/// The error for a choice of a tool that the request is sent without.
fn left_out(kind: &str) -> Unsupported {
    let why = format!(
        "the Anthropic Messages API has no equivalent of the tool '{kind}', so the model cannot \
         call it"
    );
    unsupported(RequestPath::field("tool_choice"), &why)
}

fn unknown(choice: &str) -> Unsupported {
    let why = format!("the Anthropic Messages API has no tool choice '{choice}'");
    unsupported(RequestPath::field("tool_choice"), &why)
}
