//! The tool calls that a user's text asks for.

use serde_json::{Map, Value};

/// A call of the model.
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    /// The namespace that declares the tool, if there is one.
    pub(super) namespace: Option<&'a str>,
    pub(super) arguments: Value,
}

/// A call of every tool that `text` names, in the order of the tools; two of each with `twice`. A
/// tool of a namespace is named `namespace__name`.
pub(super) fn calls<'a>(request: &'a Value, text: &str) -> Vec<Call<'a>> {
    if request["tool_choice"] == "none" {
        return Vec::new();
    }
    let times = if text.to_ascii_lowercase().contains("twice") { 2 } else { 1 };
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let functions = tools.iter().flat_map(functions);
    functions
        .flat_map(|tool| std::iter::repeat_n(tool, times))
        .filter_map(|(namespace, tool)| call(namespace, tool, text))
        .collect()
}

/// The function of a definition, or the functions of a namespace.
fn functions(tool: &Value) -> Vec<(Option<&str>, &Value)> {
    match tool["type"].as_str() {
        Some("function") => vec![(None, tool)],
        Some("namespace") => {
            let within = tool["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
            within.iter().map(|function| (tool["name"].as_str(), function)).collect()
        }
        _ => Vec::new(),
    }
}

fn call<'a>(namespace: Option<&'a str>, tool: &'a Value, text: &str) -> Option<Call<'a>> {
    let name = tool["name"].as_str()?;
    let rest = match namespace {
        Some(namespace) => text_after(text, &format!("{namespace}__{name}"))?,
        None => text_after(text, name)?,
    };
    let arguments = first_required_string(&tool["parameters"])
        .map(|property| (property.to_owned(), rest.into()));
    Some(Call { name, namespace, arguments: Map::from_iter(arguments).into() })
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

fn first_required_string(parameters: &Value) -> Option<&str> {
    let required = parameters["required"].as_array()?;
    required
        .iter()
        .filter_map(Value::as_str)
        .find(|property| parameters["properties"][property]["type"] == "string")
}
