//! Checks an input as a provider does. It is written from the providers' error texts alone and
//! shares no code with the code under test.

use std::collections::HashMap;

use serde_json::Value;

/// Returns the provider's first error.
pub(crate) fn judge(items: &[Value]) -> Result<(), String> {
    items.iter().enumerate().try_for_each(|(position, item)| form(position, item))?;
    distinct_ids(items)?;
    pairs(items)?;
    reasoning(items)
}

fn text<'a>(item: &'a Value, field: &str) -> Option<&'a str> {
    item[field].as_str()
}

fn kind(item: &Value) -> &str {
    match (text(item, "type"), item["role"].is_string()) {
        (Some(kind), _) => kind,
        (None, true) => "message",
        (None, false) => "item_reference",
    }
}

fn form(position: usize, item: &Value) -> Result<(), String> {
    let is_call = CALLS.iter().any(|(call, _)| *call == kind(item));
    let is_output = CALLS.iter().any(|(_, output)| *output == kind(item));
    presence(position, item)?;
    length(position, item, "id")?;
    shape(position, item)?;
    if is_call || is_output {
        length(position, item, "call_id")?;
    }
    match text(item, "call_id") {
        Some("") if is_call => Err(format!(
            "Invalid 'input[{position}].call_id': empty string. Expected a string with minimum \
             length 1, but got an empty string instead."
        )),
        None if is_call && !is_hosted_search(item) || is_unnamed_output(item) => {
            Err(format!("Missing required parameter: 'input[{position}].call_id'."))
        }
        _ => Ok(()),
    }
}

/// Reasoning without content needs an id; references and the calls that a provider answers itself
/// always do.
fn presence(position: usize, item: &Value) -> Result<(), String> {
    let is_filled = |field: &str| item[field].as_str().is_some_and(|value| !value.is_empty());
    let has_content = || item["content"].as_array().is_some_and(|parts| !parts.is_empty());
    let needs_id = match kind(item) {
        "reasoning" => !is_filled("encrypted_content") && !has_content(),
        kind => NEED_IDS.contains(&kind),
    };
    match needs_id && !is_filled("id") {
        true => Err(format!("Missing required parameter: 'input[{position}].id'.")),
        false => Ok(()),
    }
}

fn length(position: usize, item: &Value, field: &str) -> Result<(), String> {
    match text(item, field).map_or(0, |value| value.chars().count()) {
        0..=64 => Ok(()),
        length => Err(format!(
            "Invalid 'input[{position}].{field}': string too long. Expected a string with maximum \
             length 64, but got a string with length {length} instead."
        )),
    }
}

/// Checks only kinds whose id prefix is certain.
fn shape(position: usize, item: &Value) -> Result<(), String> {
    let prefix = match kind(item) {
        "message" => "msg",
        "reasoning" => "rs",
        "function_call" | "function_call_output" => "fc",
        "custom_tool_call" => "ctc",
        "custom_tool_call_output" => "ctco",
        "web_search_call" => "ws",
        _ => return Ok(()),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let expected = match text(item, "id") {
        Some(id) if id.is_empty() || !id.chars().all(is_plain) => {
            "contains letters and numbers".to_owned()
        }
        Some(id) if !id.starts_with(prefix) => format!("begins with '{prefix}'"),
        _ => return Ok(()),
    };
    Err(format!("Invalid 'input[{position}].id': Expected an ID that {expected}."))
}

fn distinct_ids(items: &[Value]) -> Result<(), String> {
    let mut seen = std::collections::HashSet::new();
    // A local shell's output has the id of its call.
    let own = items.iter().filter(|item| kind(item) != "local_shell_call_output");
    let mut ids = own.filter_map(|item| text(item, "id")).filter(|id| !id.is_empty());
    match ids.find(|id| !seen.insert(*id)) {
        None => Ok(()),
        Some(id) => Err(format!(
            "Duplicate item found with id {id}. Remove duplicate items from your input and try \
             again."
        )),
    }
}

const NEED_IDS: [&str; 11] = [
    "item_reference",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "computer_call",
    "local_shell_call",
    "mcp_call",
    "mcp_list_tools",
    "program",
    "program_output",
];

/// The calls that need an output, with the type of their output.
pub(crate) const CALLS: [(&str, &str); 9] = [
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("shell_call", "shell_call_output"),
    ("local_shell_call", "local_shell_call_output"),
    ("apply_patch_call", "apply_patch_call_output"),
    ("computer_call", "computer_call_output"),
    ("tool_search_call", "tool_search_output"),
    ("program", "program_output"),
    ("multi_agent_call", "multi_agent_call_output"),
];

/// The `call_id` of an output; `None` if an output needs none.
pub(crate) fn output_call_id(item: &Value) -> Option<&str> {
    match kind(item) {
        "local_shell_call_output" => Some(text(item, "call_id").or(text(item, "id")).unwrap_or("")),
        "function_call_output" | "tool_search_output" => text(item, "call_id"),
        _ => Some(text(item, "call_id").unwrap_or("")),
    }
}

/// Whether the item is a function's output that names neither its call nor its tool.
fn is_unnamed_output(item: &Value) -> bool {
    kind(item) == "function_call_output" && item["call_id"].is_null() && item["name"].is_null()
}

/// Whether the item is a tool search that the provider runs itself.
fn is_hosted_search(item: &Value) -> bool {
    kind(item) == "tool_search_call" && text(item, "call_id").is_none()
}

fn pairs(items: &[Value]) -> Result<(), String> {
    let mut answered: HashMap<(&str, &str), bool> = HashMap::new();
    for item in items {
        for (call, output) in CALLS {
            if kind(item) == call && !is_hosted_search(item) {
                let call_id = text(item, "call_id").unwrap_or("");
                if answered.insert((call, call_id), false).is_some() {
                    return Err(format!("Duplicate call {call_id}."));
                }
            } else if kind(item) == output
                && let Some(call_id) = output_call_id(item)
            {
                match answered.insert((call, call_id), true) {
                    Some(false) => {}
                    Some(true) => return Err(format!("Duplicate output for {call_id}.")),
                    None => {
                        let what = output.replace('_', " ");
                        return Err(format!(
                            "No tool call found for {what} with call_id {call_id}."
                        ));
                    }
                }
            }
        }
    }
    match answered.into_iter().find(|(_, is_answered)| !is_answered) {
        None => Ok(()),
        Some(((call, call_id), _)) => {
            let what = call.replace('_', " ");
            Err(format!("No tool output found for {what} {call_id}."))
        }
    }
}

fn reasoning(items: &[Value]) -> Result<(), String> {
    for (position, item) in items.iter().enumerate() {
        let next = items[position + 1..].iter().find(|next| kind(next) != "reasoning");
        let is_followed = next.is_some_and(|next| match kind(next) {
            "message" => text(next, "role") == Some("assistant"),
            other => !other.ends_with("_output"),
        });
        if kind(item) == "reasoning" && !is_followed {
            let id = text(item, "id").unwrap_or("");
            return Err(format!(
                "Item '{id}' of type 'reasoning' was provided without its required following item."
            ));
        }
    }
    Ok(())
}
