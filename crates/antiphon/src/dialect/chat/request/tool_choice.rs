//! `tool_choice`: whether the model must call a tool, and which.

use std::collections::HashSet;

use super::tools::ToolKey;
use super::unsupported;
use crate::dialect::chat::fields::Fields;
use crate::dialect::request::{RequestPath, Unsupported};
use crate::dialect::tools::{DeclaredTools, TOOL_SEARCH};
use crate::json::{Object, elements};

/// `tool_choice`.
pub(super) enum Choice {
    /// The model decides. The default.
    Auto,
    /// The model must not call a tool.
    None,
    /// The model must call a tool.
    Required,
    /// The model must call this tool.
    Named(ToolKey),
    /// The model may call only these tools; if `required`, it must call one.
    Allowed { tools: Vec<ToolKey>, set: HashSet<ToolKey>, required: bool },
}

impl Choice {
    /// Parses the choice of a request.
    pub(super) fn from_request(
        request: &Object<'_>,
        declared: &DeclaredTools<'_>,
    ) -> Result<Self, Unsupported> {
        match request.present("tool_choice") {
            None | Some(r#""auto""#) => Ok(Self::Auto),
            Some(r#""none""#) => Ok(Self::None),
            Some(r#""required""#) => Ok(Self::Required),
            Some(raw) => Object::parse(raw.as_bytes())
                .map_err(|_| unknown("tool_choice"))
                .and_then(|choice| Self::parse_object(&choice, declared)),
        }
    }

    fn parse_object(
        choice: &Object<'_>,
        declared: &DeclaredTools<'_>,
    ) -> Result<Self, Unsupported> {
        match choice.string("type").as_deref() {
            Some("function" | "custom") => Ok(Self::Named(chosen(choice, declared))),
            Some("allowed_tools") => Self::parse_allowed(choice, declared),
            Some(kind) if declared.is_hosted(choice) => Err(left_out("tool_choice.type", kind)),
            _ => Err(unknown("tool_choice.type")),
        }
    }

    fn parse_allowed(
        choice: &Object<'_>,
        declared: &DeclaredTools<'_>,
    ) -> Result<Self, Unsupported> {
        let required = match choice.string("mode").as_deref() {
            Some("none") => return Ok(Self::None),
            None | Some("auto") => false,
            Some("required") => true,
            Some(_) => return Err(unknown("tool_choice.mode")),
        };
        let list = choice.present("tools").unwrap_or("[]");
        let raws = elements(list).ok_or_else(|| unknown("tool_choice.tools"))?;
        let mut tools = Vec::with_capacity(raws.len());
        for (position, raw) in raws.iter().enumerate() {
            let tool = Object::parse_str(raw).map_err(|_| unknown("tool_choice.tools"))?;
            if declared.is_hosted(&tool) {
                let path = format!("tool_choice.tools[{position}]");
                return Err(left_out(&path, &tool.string("type").unwrap_or_default()));
            }
            tools.push(chosen(&tool, declared));
        }
        let set = tools.iter().cloned().collect();
        Ok(Self::Allowed { tools, set, required })
    }

    /// Whether to send this tool to the model.
    pub(super) fn allows(&self, tool: &ToolKey) -> bool {
        match self {
            Self::Allowed { set, .. } => set.contains(tool),
            Self::Auto | Self::None | Self::Required | Self::Named(_) => true,
        }
    }

    /// The choice among the `sent` tools; `None` for the default. Rejects a choice of tools that
    /// the request does not define, as the Responses API does.
    pub(super) fn encode(&self, sent: &HashSet<ToolKey>) -> Result<Option<String>, Unsupported> {
        match self {
            Self::Auto => Ok(None),
            Self::None => Ok(Some(r#""none""#.into())),
            Self::Required => required(sent),
            Self::Named(tool) if sent.contains(tool) => {
                let named = Fields::new().string("name", &tool.name).json();
                Ok(Some(Fields::with_type(&tool.kind).raw(&tool.kind, &named).json()))
            }
            Self::Named(_) => Err(no_such_tool("tool_choice")),
            Self::Allowed { tools, required: is_required, .. } => {
                if let Some(position) = tools.iter().position(|tool| !sent.contains(tool)) {
                    return Err(no_such_tool(&format!("tool_choice.tools[{position}]")));
                }
                if *is_required { required(sent) } else { Ok(None) }
            }
        }
    }
}

fn required(sent: &HashSet<ToolKey>) -> Result<Option<String>, Unsupported> {
    if sent.is_empty() {
        let because = "the model must call a tool, but the request has none";
        return Err(unsupported(RequestPath::field("tool_choice"), because));
    }
    Ok(Some(r#""required""#.into()))
}

/// The key of the tool that a choice names.
fn chosen(choice: &Object<'_>, declared: &DeclaredTools<'_>) -> ToolKey {
    if declared.is_client_search(choice) {
        return ToolKey::function(TOOL_SEARCH);
    }
    ToolKey { name: declared.chosen_name(choice), ..ToolKey::from_tool(choice) }
}

/// The error for a choice of a tool that the request is sent without.
fn left_out(path: &str, kind: &str) -> Unsupported {
    let because = format!("it has no equivalent of the tool '{kind}', so the model cannot call it");
    unsupported(RequestPath::field(path), &because)
}

fn no_such_tool(path: &str) -> Unsupported {
    unsupported(RequestPath::field(path), "'tools' has no such tool")
}

fn unknown(path: &str) -> Unsupported {
    let because = "its choices are none, auto, required, a function or a custom tool";
    unsupported(RequestPath::field(path), because)
}
