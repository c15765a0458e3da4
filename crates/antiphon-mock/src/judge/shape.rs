//! The form of an item's ids.

use serde_json::Value;

use super::item::Item;
use super::pairs;
use crate::Refusal;

const MAXIMUM_LENGTH: usize = 64;

/// The id prefix of each item type that has one.
const PREFIXES: [(&str, &str); 18] = [
    ("message", "msg"),
    ("reasoning", "rs"),
    ("function_call", "fc"),
    ("function_call_output", "fc"),
    ("custom_tool_call", "ctc"),
    ("custom_tool_call_output", "ctco"),
    ("web_search_call", "ws"),
    ("file_search_call", "fs"),
    ("code_interpreter_call", "ci"),
    ("image_generation_call", "ig"),
    ("mcp_call", "mcp"),
    ("mcp_list_tools", "mcpl"),
    ("mcp_approval_request", "mcpr"),
    ("computer_call", "cu"),
    ("local_shell_call", "lsh"),
    ("shell_call", "sh"),
    ("apply_patch_call", "apc"),
    ("compaction", "cmp"),
];

/// The types that need an id.
const WITH_ID: [&str; 12] = [
    "item_reference",
    "file_search_call",
    "web_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "computer_call",
    "local_shell_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_call",
    "program",
    "program_output",
];

/// Checks that an item has the id that it needs; the length, the prefix and the characters of its
/// id; and its `call_id`.
pub fn check(item: &Item<'_>) -> Result<(), Refusal> {
    check_presence(item)?;
    check_length(item, "id")?;
    check_id(item)?;
    if item.kind() == "mcp_approval_response" {
        return check_request_id(item);
    }
    if !pairs::is_paired(item.kind()) {
        return Ok(());
    }
    check_length(item, "call_id")?;
    check_call_id(item)
}

/// Reasoning needs an id only if it has no content, plain or encrypted.
fn check_presence(item: &Item<'_>) -> Result<(), Refusal> {
    let is_bare = || {
        let content = item.field("content").as_array();
        item.encrypted_content().is_none() && content.is_none_or(Vec::is_empty)
    };
    let needs_id = match item.kind() {
        "reasoning" => is_bare(),
        kind => WITH_ID.contains(&kind),
    };
    match item.field("id") {
        Value::Null if needs_id => Err(Refusal::missing_parameter(&item.param("id"))),
        _ => Ok(()),
    }
}

fn check_length(item: &Item<'_>, field: &str) -> Result<(), Refusal> {
    match item.field(field) {
        Value::Null => Ok(()),
        Value::String(id) => match id.chars().count() {
            length if length > MAXIMUM_LENGTH => {
                Err(Refusal::too_long(&item.param(field), MAXIMUM_LENGTH, length))
            }
            _ => Ok(()),
        },
        other => Err(Refusal::wrong_type(&item.param(field), "a string", other)),
    }
}

fn check_id(item: &Item<'_>) -> Result<(), Refusal> {
    let prefix = PREFIXES.iter().find(|(kind, _)| *kind == item.kind());
    let (Some(id), Some((_, prefix))) = (item.id(), prefix) else {
        return Ok(());
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if id.is_empty() || !id.chars().all(plain) {
        return Err(Refusal::wrong_characters(&item.param("id"), id));
    }
    if !id.starts_with(prefix) {
        return Err(Refusal::wrong_prefix(&item.param("id"), id, prefix));
    }
    Ok(())
}

/// An approval needs the id of its request.
fn check_request_id(item: &Item<'_>) -> Result<(), Refusal> {
    match item.field("approval_request_id") {
        Value::Null => Err(Refusal::missing_parameter(&item.param("approval_request_id"))),
        _ => Ok(()),
    }
}

/// A call and its output need a `call_id`, unless the item may lack it.
fn check_call_id(item: &Item<'_>) -> Result<(), Refusal> {
    match item.call_id() {
        Some("") => Err(Refusal::empty_string(&item.param("call_id"))),
        None if !pairs::may_be_anonymous(item) => {
            let of_local_shell = item.kind() == "local_shell_call_output";
            let field = if of_local_shell { "id" } else { "call_id" };
            Err(Refusal::missing_parameter(&item.param(field)))
        }
        _ => Ok(()),
    }
}
