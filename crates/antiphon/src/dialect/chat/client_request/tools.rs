//! Tools and their choice.

use super::RequestDecoder;
use super::field::{Field, Fields};
use crate::dialect::chat::fields::{Fields as Json, array};
use crate::dialect::{InvalidRequest, UpstreamApi};
use crate::json::Object;

const OBJECTS: &str = "an array of objects";

pub(super) fn decode(
    request: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    let mut tools = Vec::new();
    if let Some(list) = request.present("tools") {
        for field in list.array(OBJECTS)? {
            tools.push(tool(&field, decoder.upstream)?);
        }
    }
    if let Some(list) = request.present("functions") {
        for field in list.array(OBJECTS)? {
            tools.push(function(&field.object()?, decoder.upstream)?);
        }
        decoder.set_raw("parallel_tool_calls", "false");
    }
    if let Some(options) = request.present("web_search_options") {
        match decoder.is_for(UpstreamApi::Chat) {
            true => decoder.set_raw("web_search_options", options.raw()),
            false => tools.push(web_search(&options)?),
        }
    }
    if !tools.is_empty() {
        decoder.set_raw("tools", array(&tools));
    }
    if let Some(parallel) = request.present("parallel_tool_calls") {
        decoder.set_raw("parallel_tool_calls", parallel.boolean()?.to_string());
    }
    tool_choice(request, decoder)
}

/// A tool in the form of the Responses API, which does not nest its definition.
fn tool(field: &Field<'_>, upstream: UpstreamApi) -> Result<String, InvalidRequest> {
    let tool = field.object()?;
    let kind = tool.required("type")?.one_of(&["function", "custom"])?;
    let definition = tool.required(kind)?.object()?;
    let mut json = match kind {
        "function" => definition_of_function(&definition, upstream)?,
        _ => custom(&definition)?,
    };
    let others = present(tool.object()).filter(|(key, _)| *key != "type" && *key != kind);
    Ok(json.all(others).json())
}

/// A function of the deprecated `functions`.
fn function(definition: &Fields<'_>, upstream: UpstreamApi) -> Result<String, InvalidRequest> {
    Ok(definition_of_function(definition, upstream)?.json())
}

/// The fields of a function. The Responses API requires `parameters`, and its functions are strict
/// by default.
fn definition_of_function(
    definition: &Fields<'_>,
    upstream: UpstreamApi,
) -> Result<Json, InvalidRequest> {
    definition.required("name")?.string()?;
    let mut json = Json::with_type("function");
    json.all(present(definition.object()).filter(|(key, _)| *key != "type"));
    if upstream == UpstreamApi::Responses {
        for (key, default) in
            [("parameters", r#"{"type":"object","properties":{}}"#), ("strict", "false")]
        {
            if definition.present(key).is_none() {
                json.raw(key, default);
            }
        }
    }
    Ok(json)
}

/// The fields of a custom tool. A grammar is nested one level less than in Chat Completions.
fn custom(definition: &Fields<'_>) -> Result<Json, InvalidRequest> {
    definition.required("name")?.string()?;
    let mut json = Json::with_type("custom");
    json.all(present(definition.object()).filter(|(key, _)| !matches!(*key, "type" | "format")));
    if let Some(format) = definition.present("format") {
        let format = format.object()?;
        let kind = format.required("type")?.one_of(&["text", "grammar"])?;
        let mut plain = Json::with_type(kind);
        if kind == "grammar" {
            let grammar = format.required("grammar")?.object()?;
            plain.all(present(grammar.object()).filter(|(key, _)| *key != "type"));
        }
        json.raw("format", &plain.json());
    }
    Ok(json)
}

/// The hosted tool for `web_search_options`.
fn web_search(field: &Field<'_>) -> Result<String, InvalidRequest> {
    let options = field.object()?;
    let mut tool = Json::with_type("web_search");
    let size = options.present("search_context_size");
    tool.present("search_context_size", size.as_ref().map(Field::raw));
    if let Some(location) = options.present("user_location") {
        let location = location.object()?;
        let approximate = location.required("approximate")?.object()?;
        let mut user_location = Json::with_type("approximate");
        user_location.all(present(approximate.object()).filter(|(key, _)| *key != "type"));
        tool.raw("user_location", &user_location.json());
    }
    Ok(tool.json())
}

/// `tool_choice`, or the deprecated `function_call`.
fn tool_choice(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    if let Some(choice) = request.present("tool_choice") {
        let raw = if choice.raw().starts_with('"') {
            choice.one_of(&["none", "auto", "required"])?;
            choice.raw().to_owned()
        } else {
            chosen(&choice)?
        };
        decoder.set_raw("tool_choice", raw);
    } else if let Some(choice) = request.present("function_call") {
        let raw = if choice.raw().starts_with('"') {
            choice.one_of(&["none", "auto"])?;
            choice.raw().to_owned()
        } else {
            let name = choice.object()?;
            Json::with_type("function").raw("name", name.required("name")?.string()?).json()
        };
        decoder.set_raw("tool_choice", raw);
    }
    Ok(())
}

/// A chosen tool, or the tools that the model may call.
fn chosen(choice: &Field<'_>) -> Result<String, InvalidRequest> {
    let choice = choice.object()?;
    match choice.required("type")?.one_of(&["function", "custom", "allowed_tools"])? {
        "allowed_tools" => {
            let allowed = choice.required("allowed_tools")?.object()?;
            let mode = allowed.required("mode")?.one_of(&["auto", "required"])?;
            let tools = allowed.required("tools")?.array(OBJECTS)?;
            let tools = tools.iter().map(|tool| named(&tool.object()?));
            let tools: Vec<String> = tools.collect::<Result<_, _>>()?;
            let mut json = Json::with_type("allowed_tools");
            Ok(json.string("mode", mode).raw("tools", &array(&tools)).json())
        }
        _ => named(&choice),
    }
}

/// A tool by its name.
fn named(tool: &Fields<'_>) -> Result<String, InvalidRequest> {
    let kind = tool.required("type")?.one_of(&["function", "custom"])?;
    let named = tool.required(kind)?.object()?;
    let name = named.required("name")?.string()?.to_owned();
    Ok(Json::with_type(kind).raw("name", &name).json())
}

/// The fields with a value.
fn present<'a>(object: &'a Object<'_>) -> impl Iterator<Item = (&'a str, &'a str)> {
    object.iter().filter(|(_, raw)| *raw != "null")
}
