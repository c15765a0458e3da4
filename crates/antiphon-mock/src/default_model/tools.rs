//! The tool calls that a user's text asks for.

use serde_json::{Map, Value};

/// The sentence by which a user forbids calls, as Claude Code writes it to get a summary.
const NO_CALLS: &str = "Do NOT call any tools.";

/// The type of a tool search, and the name by which a user asks for it.
const TOOL_SEARCH: &str = "tool_search";

/// The type of the item with the tools that a search found.
pub(super) const TOOL_SEARCH_OUTPUT: &str = "tool_search_output";

/// A call of the model.
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    /// Whether the call is a tool search that the client runs.
    pub(super) is_search: bool,
    /// The namespace that declares the tool, if there is one.
    pub(super) namespace: Option<&'a str>,
    pub(super) arguments: Value,
}

/// A call of every tool that `text` names, in the order of the tools; two of each with `twice`. A
/// tool of a namespace is named `namespace__name`. The tools that the client's searches found come
/// after those of the request.
pub(super) fn calls<'a>(request: &'a Value, text: &str) -> Vec<Call<'a>> {
    if request["tool_choice"] == "none" || text.contains(NO_CALLS) {
        return Vec::new();
    }
    let times = if text.to_ascii_lowercase().contains("twice") { 2 } else { 1 };
    let functions = list(&request["tools"]).iter().chain(found(request)).flat_map(functions);
    functions
        .flat_map(|tool| std::iter::repeat_n(tool, times))
        .filter_map(|(namespace, tool)| call(namespace, tool, text))
        .collect()
}

/// The tools that tool searches found.
fn found(request: &Value) -> impl Iterator<Item = &Value> {
    let outputs = list(&request["input"]).iter().filter(|item| item["type"] == TOOL_SEARCH_OUTPUT);
    outputs.flat_map(|output| list(&output["tools"]))
}

/// The names of the tools that a search found, as a user names them.
pub(super) fn found_names(output: &Value) -> String {
    let names = list(&output["tools"]).iter().flat_map(functions).map(|(namespace, tool)| {
        let name = tool["name"].as_str().unwrap_or_default();
        namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}__{name}"))
    });
    names.collect::<Vec<_>>().join(", ")
}

/// The function of a definition, or the functions of a namespace, or a search for tools.
fn functions(tool: &Value) -> Vec<(Option<&str>, &Value)> {
    match tool["type"].as_str() {
        Some("function") => vec![(None, tool)],
        Some("namespace") => {
            let within = list(&tool["tools"]).iter();
            within.map(|function| (tool["name"].as_str(), function)).collect()
        }
        Some(TOOL_SEARCH) if tool["execution"] == "client" => vec![(None, tool)],
        _ => Vec::new(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn call<'a>(namespace: Option<&'a str>, tool: &'a Value, text: &str) -> Option<Call<'a>> {
    let is_search = tool["type"] == TOOL_SEARCH;
    let name = if is_search { TOOL_SEARCH } else { tool["name"].as_str()? };
    let rest = match namespace {
        Some(namespace) => text_after(text, &format!("{namespace}__{name}"))?,
        None => text_after(text, name)?,
    };
    let arguments: Map<_, _> = required_strings(&tool["parameters"])
        .map(|property| (property.to_owned(), rest.into()))
        .collect();
    Some(Call { name, is_search, namespace, arguments: arguments.into() })
}

/// The text after the first whole-word occurrence of `name`, ignoring case.
fn text_after<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let (text_lower, name_lower) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    text_lower
        .match_indices(&name_lower)
        .map(|(at, _)| (&text[..at], &text[at + name.len()..]))
        .find(|(before, after)| !before.ends_with(in_word) && !after.starts_with(in_word))
        .map(|(_, after)| after.trim_start_matches([':', ',']).trim())
}

fn required_strings(parameters: &Value) -> impl Iterator<Item = &str> {
    let required = list(&parameters["required"]).iter().filter_map(Value::as_str);
    required.filter(|property| parameters["properties"][property]["type"] == "string")
}
