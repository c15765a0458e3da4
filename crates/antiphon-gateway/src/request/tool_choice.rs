//! `tool_choice`: whether the model calls a tool, and which one.

use std::collections::HashSet;

use antiphon::item::Tool;
use antiphon::json::{self, Object};
use antiphon::stream::ToolName;
use antiphon::{Item, Kind};
use serde_json::value::RawValue;

use super::tools::typed_object;
use super::wrong_type;
use crate::error::ApiError;

const FIELD: &str = "tool_choice";

/// Checks the form of the field. The upstream checks tools of unknown types.
pub(super) fn check_tool_choice(fields: &Object<'_>) -> Result<(), ApiError> {
    let Some(raw) = fields.present(FIELD) else { return Ok(()) };
    match json::unquote(raw).as_deref() {
        Some("none" | "auto" | "required") => Ok(()),
        Some(other) => Err(ApiError::InvalidValue {
            path: FIELD.into(),
            value: other.into(),
            supported: &["none", "auto", "required"],
        }),
        None => check_chosen(FIELD, &typed_object(FIELD, raw)?),
    }
}

/// Checks the reference to one tool, or the list of allowed tools.
fn check_chosen(path: &str, choice: &Object<'_>) -> Result<(), ApiError> {
    match choice.string("type").as_deref() {
        Some("function" | "custom") => check_text(path, choice, "name"),
        Some("mcp") => check_text(path, choice, "server_label"),
        Some("allowed_tools") if path == FIELD => check_allowed(choice),
        _ => Ok(()),
    }
}

fn check_allowed(choice: &Object<'_>) -> Result<(), ApiError> {
    let path = "tool_choice.mode";
    match choice.present("mode").map(|raw| (json::unquote(raw), raw)) {
        None => {}
        Some((None, raw)) => return Err(wrong_type(path, "a string", raw)),
        Some((Some(mode), _)) if matches!(&*mode, "none" | "auto" | "required") => {}
        Some((Some(mode), _)) => {
            return Err(ApiError::InvalidValue {
                path: path.into(),
                value: mode.into_owned(),
                supported: &["none", "auto", "required"],
            });
        }
    }
    let path = "tool_choice.tools";
    let Some(raw) = choice.present("tools") else {
        return Err(ApiError::MissingParameter { name: path.into() });
    };
    let tools: Vec<&RawValue> =
        serde_json::from_str(raw).map_err(|_| wrong_type(path, "an array", raw))?;
    for (position, tool) in tools.iter().enumerate() {
        let path = format!("{path}[{position}]");
        check_chosen(&path, &typed_object(&path, tool.get())?)?;
    }
    Ok(())
}

fn check_text(path: &str, choice: &Object<'_>, key: &str) -> Result<(), ApiError> {
    let path = format!("{path}.{key}");
    match choice.present(key) {
        None | Some(r#""""#) => Err(ApiError::MissingParameter { name: path.clone() }),
        Some(raw) if raw.starts_with('"') => Ok(()),
        Some(raw) => Err(wrong_type(&path, "a string", raw)),
    }
}

/// Checks that the chosen tools are among the request's tools, with the provider's error texts. The
/// check is skipped if a stored prompt or an item of the `view` adds tools.
pub(crate) fn check_chosen_tool(fields: &Object<'_>, view: &[Item]) -> Result<(), ApiError> {
    let brings_tools = |item: &Item| item.head().kind.adds_tools();
    let Some(raw) = fields.present(FIELD) else { return Ok(()) };
    if fields.present("prompt").is_some() || view.iter().any(brings_tools) {
        return Ok(());
    }
    let tools = fields.present("tools").map(known_tools).unwrap_or_default();
    if json::unquote(raw).as_deref() == Some("required") && tools.is_empty() {
        return Err(ApiError::ToolChoiceWithoutTools);
    }
    for (choice, chosen) in chosen(raw) {
        if must_be_declared(&chosen) && !tools.contains(&chosen) {
            return Err(ApiError::ToolChoiceNotFound { choice });
        }
    }
    Ok(())
}

/// The tools that a choice names. The first value is the provider's term for the tool in errors:
/// its type, or its name if the choice lists several tools.
fn chosen(raw: &str) -> Vec<(String, ToolName)> {
    let Ok(choice) = Object::parse(raw.as_bytes()) else { return Vec::new() };
    let kind = choice.string("type").unwrap_or_default().into_owned();
    if kind != "allowed_tools" {
        return ToolName::from_definition(&choice).map(|tool| (kind, tool)).into_iter().collect();
    }
    let tools: Vec<&RawValue> =
        choice.get("tools").and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default();
    let named = tools.iter().filter_map(|tool| {
        let tool = ToolName::from_definition(&Object::parse(tool.get().as_bytes()).ok()?)?;
        Some((tool.to_string(), tool))
    });
    named.collect()
}

/// The tools of a list, including those in namespaces. Namespaces are not nested.
fn known_tools(raw: &str) -> HashSet<ToolName> {
    let mut known = HashSet::new();
    for raw in elements(raw) {
        let Ok(tool) = Object::parse_str(raw.get()) else { continue };
        known.extend(ToolName::from_definition(&tool));
        let within = elements(tool.present("tools").unwrap_or_default());
        let within = within.iter().filter_map(|raw| Object::parse_str(raw.get()).ok());
        known.extend(within.filter_map(|tool| ToolName::from_definition(&tool)));
    }
    known
}

fn elements(raw: &str) -> Vec<&RawValue> {
    serde_json::from_str(raw).unwrap_or_default()
}

/// Whether the tool is only available if the request names it. Other tools of a provider may always
/// be available.
fn must_be_declared(tool: &ToolName) -> bool {
    match tool {
        ToolName::Named(_) | ToolName::Mcp(_) => true,
        ToolName::BuiltIn(name) => {
            let is_it = |tool| matches!(tool, Tool::BuiltIn(known) if known == name);
            Kind::ALL.iter().any(|kind| kind.tool().is_some_and(is_it))
        }
    }
}
