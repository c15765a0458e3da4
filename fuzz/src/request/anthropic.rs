//! The rules for `messages` from Anthropic's error texts.

use std::collections::HashSet;

use serde_json::Value;

/// Roles alternate, no content is empty, and every call has a result: "each `tool_use` block must
/// have a corresponding `tool_result` block in the next message", "each `tool_result` block must
/// have a corresponding `tool_use` block in the previous message", "`tool_use` ids must be unique".
pub fn check(body: &[u8]) {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return };
    let mut ids = HashSet::new();
    let mut waiting: Vec<&str> = Vec::new();
    for (number, message) in body["messages"].as_array().expect("messages").iter().enumerate() {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], role, "roles alternate, the user's first");
        let blocks = message["content"].as_array().expect("content is a list");
        assert!(!blocks.is_empty(), "all messages have content");
        let results = blocks.iter().map_while(|block| ids_of(block, "tool_result", "tool_use_id"));
        assert_eq!(results.collect::<Vec<_>>(), waiting, "results answer calls, and come first");
        waiting = blocks.iter().filter_map(|block| ids_of(block, "tool_use", "id")).collect();
        assert!(waiting.is_empty() || role == "assistant", "only the assistant makes calls");
        assert!(waiting.iter().all(|id| ids.insert(*id)), "ids are unique: {waiting:?}");
        blocks.iter().for_each(check_text);
    }
    assert!(waiting.is_empty(), "{waiting:?} are not answered at the end");
}

fn ids_of<'a>(block: &'a Value, kind: &str, field: &str) -> Option<&'a str> {
    (block["type"] == kind).then(|| block[field].as_str().expect("the block has an id"))
}

/// "text content blocks must contain non-whitespace text"
fn check_text(block: &Value) {
    if block["type"] == "text" {
        let text = block["text"].as_str().expect("text is a string");
        assert!(!text.trim().is_empty(), "a text is not blank");
    }
}
