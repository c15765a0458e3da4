//! Tool searches that the client runs, for an API without them.
//!
//! ```text
//!   {"type":"tool_search","execution":"client"} ──> the function `tool_search`
//!   tool_search_call with a call_id ──────────────> a call of that function
//!   tool_search_output with a call_id ────────────> its output: the names of the tools found
//!                └── its tools ───────────────────> tools of the request
//! ```
//!
//! Source: OpenAI's guide to tool search. A search that the provider runs has no `call_id`.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::{FlatNames, definitions, is_namespace, text};
use crate::item::{Item, Kind};
use crate::json::{Object, quote, unquote};

/// The name of the function, and the type of the tool.
pub(in crate::dialect) const TOOL_SEARCH: &str = "tool_search";

/// Whether a tool is a search that the client runs.
pub(super) fn is_client_search(tool: &Object<'_>) -> bool {
    let text = |key| tool.string(key).unwrap_or_default();
    text("type") == TOOL_SEARCH && text("execution") == "client"
}

/// The function in the place of a tool search.
pub(super) fn into_function(mut search: Object<'_>) -> Object<'_> {
    search.set("type", r#""function""#);
    search.set("name", quote(TOOL_SEARCH));
    search.remove("execution");
    search
}

/// The tools that the searches among the items found, each with its path.
pub(super) fn found_tools(items: &[Item]) -> impl Iterator<Item = (String, Object<'static>)> {
    let outputs = items.iter().enumerate().filter(|(_, item)| is_output(item));
    outputs.flat_map(|(position, item)| {
        let output = item.object();
        let tools = output.present("tools").unwrap_or("[]");
        let tools = definitions(tools, &format!("input[{position}].tools")).unwrap_or_default();
        let tools = tools.into_iter().map(|(path, tool)| (path, tool.into_owned()));
        tools.collect::<Vec<_>>()
    })
}

/// The items with each search as a call of the function.
pub(in crate::dialect) fn as_functions<'a>(
    items: &'a [Item],
    names: &FlatNames,
) -> Cow<'a, [Item]> {
    if !items.iter().any(|item| is_call(item) || is_output(item)) {
        return Cow::Borrowed(items);
    }
    let converted = items.iter().map(|item| {
        if is_call(item) {
            as_function_call(&item.object())
        } else if is_output(item) {
            as_function_output(&item.object(), names)
        } else {
            item.clone()
        }
    });
    Cow::Owned(converted.collect())
}

/// The item of a call of the function, with this input of the model: JSON, unless the model wrote
/// something else.
pub(in crate::dialect) fn search_call(call_id: &str, input: &str) -> Object<'static> {
    let is_json = serde_json::from_str::<IgnoredAny>(input).is_ok();
    let arguments = if is_json { input.to_owned() } else { quote(input) };
    let mut call = Object::default();
    call.set("type", r#""tool_search_call""#);
    call.set("call_id", quote(call_id));
    call.set("execution", r#""client""#);
    call.set("arguments", arguments);
    call
}

fn is_call(item: &Item) -> bool {
    item.head().kind == Kind::ToolSearchCall && item.head().call_id.is_some()
}

fn is_output(item: &Item) -> bool {
    item.head().kind == Kind::ToolSearchOutput && item.head().call_id.is_some()
}

fn as_function_call(search: &Object<'_>) -> Item {
    let arguments = search.present("arguments").unwrap_or("{}");
    let text = unquote(arguments).map_or_else(|| quote(arguments), |_| arguments.to_owned());
    function_item("function_call", search, [("name", quote(TOOL_SEARCH)), ("arguments", text)])
}

fn as_function_output(search: &Object<'_>, names: &FlatNames) -> Item {
    let tools = definitions(search.present("tools").unwrap_or("[]"), "tools").unwrap_or_default();
    let found: Vec<String> = tools.iter().flat_map(|(_, tool)| names_of(tool, names)).collect();
    let sentence = match &*found {
        [] => "No tools were found.".to_owned(),
        found => format!("Tools found: {}.", found.join(", ")),
    };
    function_item("function_call_output", search, [("output", quote(&sentence))])
}

fn function_item<const N: usize>(
    kind: &str,
    search: &Object<'_>,
    fields: [(&'static str, String); N],
) -> Item {
    let mut item = Object::default();
    item.set("type", quote(kind));
    item.set("call_id", search.get("call_id").unwrap_or("null").to_owned());
    for (key, raw) in fields {
        item.set(key, raw);
    }
    Item::parse(item.to_bytes()).expect("a call and its output are items")
}

/// The names under which the model knows a tool, or the tools of a namespace.
fn names_of(tool: &Object<'_>, names: &FlatNames) -> Vec<String> {
    let name = text(tool, "name").unwrap_or_default();
    if !is_namespace(tool) {
        return vec![name];
    }
    let tools = definitions(tool.present("tools").unwrap_or("[]"), "tools").unwrap_or_default();
    let functions = tools.iter().filter_map(|(_, function)| text(function, "name"));
    functions.map(|function| names.flatten(&name, &function)).collect()
}
