//! The tools and `tool_choice`.

use std::collections::HashSet;

use super::field::Field;
use crate::Refusal;

const NAME: &str = "^[a-zA-Z0-9_-]{1,128}$";

pub(super) fn check(request: &Field<'_>) -> Result<(), Refusal> {
    let Some(tools) = request.present("tools") else {
        return match request.present("tool_choice") {
            Some(_) => Err(Refusal::tool_choice_without_tools()),
            None => Ok(()),
        };
    };
    let names = tools.array()?.iter().map(tool).collect::<Result<Vec<_>, _>>()?;
    let mut seen = HashSet::new();
    if !names.iter().all(|name| seen.insert(*name)) {
        return Err(Refusal::tool_names_not_unique());
    }
    match request.present("tool_choice") {
        Some(choice) => check_choice(&choice, &names),
        None => Ok(()),
    }
}

/// Checks a tool and returns its name.
fn tool<'a>(tool: &Field<'a>) -> Result<&'a str, Refusal> {
    tool.object()?;
    match tool.present("type").map(|kind| kind.text()).transpose()? {
        None | Some("custom") => custom(&tool.as_a("custom")),
        Some(kind) if is_server_tool(kind) => tool.required("name")?.text(),
        Some(kind) => Err(tool.unknown_tag(kind, &["custom"])),
    }
}

/// Whether the provider runs the tool itself. Such types end with a date: `web_search_20250305`.
fn is_server_tool(kind: &str) -> bool {
    let date = kind.rsplit('_').next().unwrap_or_default();
    date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())
}

fn custom<'a>(tool: &Field<'a>) -> Result<&'a str, Refusal> {
    let name = tool.required("name")?.name(128, NAME)?;
    let schema = tool.required("input_schema")?;
    schema.object()?;
    if schema.required("type")?.value() != "object" {
        return Err(Refusal::should_be(format!("{}.type", schema.place()), "'object'"));
    }
    if let Some(description) = tool.present("description") {
        description.text()?;
    }
    tool.only(&[
        "type",
        "name",
        "description",
        "input_schema",
        "cache_control",
        "strict",
        "defer_loading",
        "allowed_callers",
        "input_examples",
        "eager_input_streaming",
    ])?;
    Ok(name)
}

fn check_choice(choice: &Field<'_>, names: &[&str]) -> Result<(), Refusal> {
    let kind = choice.tag(&["any", "auto", "none", "tool"])?;
    let typed = choice.as_a(kind);
    match kind {
        "none" => typed.only(&["type"]),
        "tool" => {
            let name = typed.required("name")?.text()?;
            typed.only(&["type", "name", "disable_parallel_tool_use"])?;
            if names.contains(&name) {
                Ok(())
            } else {
                Err(Refusal::chosen_tool_not_provided(name))
            }
        }
        _ => typed.only(&["type", "disable_parallel_tool_use"]),
    }
}
