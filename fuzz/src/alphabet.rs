//! The few names in generated conversations. There are few so that they repeat.

use serde_json::Value;

/// Types of calls and their outputs, each with the prefix of its ids.
pub const CALLS: [(&str, &str, &str); 10] = [
    ("function_call", "function_call_output", "fc"),
    ("custom_tool_call", "custom_tool_call_output", "ctc"),
    ("shell_call", "shell_call_output", "sh"),
    ("local_shell_call", "local_shell_call_output", "lsh"),
    ("apply_patch_call", "apply_patch_call_output", "apc"),
    ("computer_call", "computer_call_output", "cu"),
    ("tool_search_call", "tool_search_output", "tsc"),
    ("program", "program_output", "prog"),
    ("multi_agent_call", "multi_agent_call_output", "mac"),
    ("mcp_approval_request", "mcp_approval_response", "mcpr"),
];

const TEXTS: [&str; 8] =
    ["", "yes", "no", "yes.", "What is the weather?", "\"a\"\n", "é😀", "{\"city\":\"Oslo\"}"];

/// The text with this number.
#[must_use]
pub fn text(byte: u8) -> &'static str {
    TEXTS[usize::from(byte) % TEXTS.len()]
}

/// An id with this prefix: usually one of six, sometimes none or an invalid one.
#[must_use]
pub fn id(prefix: &str, byte: u8) -> Option<String> {
    match byte % 16 {
        0..6 => None,
        number @ 6..12 => Some(format!("{prefix}_{}", number - 5)),
        12 => Some(String::new()),
        13 => Some(format!("{prefix}_é 1")),
        14 => Some("id_1".to_owned()),
        _ => Some(format!("{prefix}_{}", "1".repeat(70))),
    }
}

/// The element with this number.
pub(crate) fn one_of<T: Copy>(all: &[T], byte: u8) -> T {
    all[usize::from(byte) % all.len()]
}

/// Inserts a text into a JSON object, if it is one.
pub(crate) fn put(object: &mut Value, field: &str, text: Option<String>) {
    if let Some(text) = text {
        object[field] = text.into();
    }
}
