//! Anthropic's rules for `messages`, from the texts of its errors.

use std::collections::HashSet;

use serde_json::Value;

/// Asserts that Anthropic would accept these messages.
pub(super) fn check(messages: &Value) {
    let messages = messages.as_array().expect("messages: Input should be a valid list");
    assert!(!messages.is_empty(), "messages: at least one message is required");
    let mut ids = HashSet::new();
    let mut pending: Vec<&str> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let expected = if number % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(
            message["role"], expected,
            "messages.{number}: roles must alternate, user first"
        );
        let blocks = message["content"].as_array().expect("content: a list");
        assert!(!blocks.is_empty(), "messages.{number}: all messages must have non-empty content");
        blocks.iter().for_each(check_text);
        if expected == "user" {
            check_results(blocks, &pending);
            pending.clear();
        } else {
            pending = check_calls(blocks, &mut ids);
        }
    }
    assert!(pending.is_empty(), "`tool_use` ids were found without `tool_result` blocks");
    check_end(messages);
}

/// "text content blocks must be non-empty", "… must contain non-whitespace text"
fn check_text(block: &Value) {
    if block["type"] == "text" {
        let text = block["text"].as_str().expect("text: a string");
        assert!(!text.trim().is_empty(), "text content blocks must be non-empty");
    }
}

/// "Each `tool_use` block must have a corresponding `tool_result` block in the next message", and
/// "each `tool_result` block must have a corresponding `tool_use` block in the previous message".
fn check_results(blocks: &[Value], pending: &[&str]) {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let results: Vec<&str> = blocks
        .iter()
        .filter(is_result)
        .map(|block| block["tool_use_id"].as_str().unwrap())
        .collect();
    assert_eq!(results, pending, "results answer the calls of the previous message, in order");
    let first = blocks.iter().take_while(is_result).count();
    assert_eq!(first, results.len(), "`tool_result` blocks must come first");
}

/// "`tool_use` ids must be unique", "String should match pattern '^[a-zA-Z0-9_-]+$'", "Input should
/// be a valid dictionary", "The final block in an assistant message cannot be `thinking`".
fn check_calls<'a>(blocks: &'a [Value], ids: &mut HashSet<&'a str>) -> Vec<&'a str> {
    let mut calls = Vec::new();
    for block in blocks.iter().filter(|block| block["type"] == "tool_use") {
        let id = block["id"].as_str().unwrap();
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        assert!(!id.is_empty() && id.chars().all(fits), "tool_use.id: {id}");
        assert!(ids.insert(id), "`tool_use` ids must be unique: {id}");
        assert!(block["input"].is_object(), "tool_use.input: a dictionary");
        calls.push(id);
    }
    assert_ne!(blocks.last().unwrap()["type"], "thinking", "the final block cannot be `thinking`");
    calls
}

/// "final assistant content cannot end with trailing whitespace"
fn check_end(messages: &[Value]) {
    let last = messages.last().unwrap();
    let text = last["content"].as_array().unwrap().last().unwrap()["text"].as_str();
    if let Some(text) = text.filter(|_| last["role"] == "assistant") {
        assert_eq!(text, text.trim_end(), "final assistant content ends with whitespace");
    }
}
