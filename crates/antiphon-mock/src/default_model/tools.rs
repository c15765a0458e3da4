//! The tool calls that a user's text asks for.

use serde_json::{Map, Value};

/// A call of the model.
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Value,
}

/// A call of every tool that `text` names, in the order of the tools; two of each with `twice`.
pub(super) fn calls<'a>(request: &'a Value, text: &str) -> Vec<Call<'a>> {
    if request["tool_choice"] == "none" {
        return Vec::new();
    }
    let times = if text.to_ascii_lowercase().contains("twice") { 2 } else { 1 };
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let functions = tools.iter().filter(|tool| tool["type"] == "function");
    functions
        .flat_map(|tool| std::iter::repeat_n(tool, times))
        .filter_map(|tool| call(tool, text))
        .collect()
}

fn call<'a>(tool: &'a Value, text: &str) -> Option<Call<'a>> {
    let name = tool["name"].as_str()?;
    let rest = text_after(text, name)?;
    let arguments = first_required_string(&tool["parameters"])
        .map(|property| (property.to_owned(), rest.into()));
    Some(Call { name, arguments: Map::from_iter(arguments).into() })
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
