//! Every tool use has exactly one result, at the start of the next message.

use std::collections::HashSet;

use serde_json::Value;

use super::message::{Message, Role};
use crate::Refusal;

pub(super) fn check(messages: &[Message<'_>]) -> Result<(), Refusal> {
    check_unique_ids(messages)?;
    for (position, message) in messages.iter().enumerate() {
        let previous = position.checked_sub(1).map(|before| &messages[before]);
        check_results(previous, message)?;
        check_answered(message, messages.get(position + 1))?;
    }
    Ok(())
}

/// Refuses calls and results in a request without tools.
pub(super) fn have_tools(messages: &[Message<'_>], request: &Value) -> Result<(), Refusal> {
    let mut blocks = messages.iter().flat_map(Message::blocks);
    let has_calls = blocks.any(|block| matches!(block.kind(), "tool_use" | "tool_result"));
    let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    if has_calls && !has_tools { Err(Refusal::tool_blocks_without_tools()) } else { Ok(()) }
}

fn check_unique_ids(messages: &[Message<'_>]) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    let mut calls = messages.iter().flat_map(|message| message.blocks_of("tool_use"));
    match calls.find(|call| !seen.insert(call.text("id"))) {
        Some(call) => Err(Refusal::tool_use_id_twice(call.place)),
        None => Ok(()),
    }
}

fn calls<'a>(message: &Message<'a>) -> impl Iterator<Item = &'a str> {
    message.blocks_of("tool_use").map(|call| call.text("id"))
}

fn check_results(previous: Option<&Message<'_>>, message: &Message<'_>) -> Result<(), Refusal> {
    let expected: HashSet<&str> = previous.into_iter().flat_map(calls).collect();
    let mut seen = HashSet::new();
    for result in message.blocks_of("tool_result") {
        let id = result.text("tool_use_id");
        if !expected.contains(id) {
            return Err(Refusal::unexpected_tool_result(result.place, id));
        }
        if !seen.insert(id) {
            return Err(Refusal::tool_result_twice(result.place, id));
        }
    }
    Ok(())
}

/// Checks that every call has its result. A result counts only before all other blocks of its
/// message.
fn check_answered(message: &Message<'_>, next: Option<&Message<'_>>) -> Result<(), Refusal> {
    let next = next.filter(|next| next.role == Role::User);
    let leading: HashSet<&str> = next
        .into_iter()
        .flat_map(|next| next.blocks().take_while(|block| block.kind() == "tool_result"))
        .map(|result| result.text("tool_use_id"))
        .collect();
    let unanswered: Vec<&str> = calls(message).filter(|id| !leading.contains(id)).collect();
    if unanswered.is_empty() {
        return Ok(());
    }
    Err(Refusal::tool_use_unanswered(message.index, &unanswered))
}
