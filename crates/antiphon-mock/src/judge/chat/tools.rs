//! The tools and `tool_choice`.

use super::field::Field;
use crate::Refusal;

const NAME_LENGTH: usize = 64;

pub(super) fn check(request: &Field<'_>) -> Result<(), Refusal> {
    let Some(tools) = request.present("tools") else {
        return match ["tool_choice", "parallel_tool_calls"]
            .into_iter()
            .find(|param| request.present(param).is_some())
        {
            Some(param) => Err(Refusal::only_with_tools(param)),
            None => Ok(()),
        };
    };
    let names = tools.array()?.iter().map(tool).collect::<Result<Vec<_>, _>>()?;
    match request.present("tool_choice") {
        Some(choice) => check_choice(&choice, &names),
        None => Ok(()),
    }
}

/// Checks a tool and returns its name.
fn tool<'a>(tool: &Field<'a>) -> Result<&'a str, Refusal> {
    let kind = tool.required("type")?.one_of(&["function", "custom"])?;
    let definition = tool.required(kind)?;
    let name = definition.required("name")?.name(NAME_LENGTH)?;
    if kind == "function" {
        definition.only(&["name", "description", "parameters", "strict"])?;
        if let Some(parameters) = definition.present("parameters") {
            parameters.object()?;
        }
    } else {
        definition.only(&["name", "description", "format"])?;
        format(&definition)?;
    }
    tool.only(&["type", kind])?;
    Ok(name)
}

/// The input format of a custom tool: any text, or a grammar in an object of its own.
fn format(definition: &Field<'_>) -> Result<(), Refusal> {
    let Some(format) = definition.present("format") else {
        return Ok(());
    };
    if format.required("type")?.one_of(&["text", "grammar"])? == "text" {
        return format.only(&["type"]);
    }
    let grammar = format.required("grammar")?;
    grammar.required("definition")?.text()?;
    grammar.required("syntax")?.one_of(&["lark", "regex"])?;
    format.only(&["type", "grammar"])
}

fn check_choice(choice: &Field<'_>, names: &[&str]) -> Result<(), Refusal> {
    if choice.value().is_string() {
        choice.one_of(&["none", "auto", "required"])?;
        return Ok(());
    }
    let kind = choice.required("type")?.one_of(&["allowed_tools", "function", "custom"])?;
    let chosen = choice.required(kind)?;
    choice.only(&["type", kind])?;
    if kind != "allowed_tools" {
        return check_name(choice, kind, names);
    }
    chosen.required("mode")?.one_of(&["auto", "required"])?;
    chosen.required("tools")?.array()?.iter().try_for_each(|tool| {
        let kind = tool.required("type")?.one_of(&["function", "custom"])?;
        check_name(tool, kind, names)
    })
}

fn check_name(tool: &Field<'_>, kind: &str, names: &[&str]) -> Result<(), Refusal> {
    let name = tool.required(kind)?.required("name")?.text()?;
    if names.contains(&name) { Ok(()) } else { Err(Refusal::chosen_tool_not_found(name)) }
}
