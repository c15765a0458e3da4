//! Empty and blank texts.

use serde_json::Value;

use super::message::{Message, Role};
use crate::Refusal;

pub(super) fn check(messages: &[Message<'_>]) -> Result<(), Refusal> {
    messages.iter().try_for_each(message_not_blank)?;
    match messages.last() {
        Some(last) if last.role == Role::Assistant => no_trailing_whitespace(last),
        _ => Ok(()),
    }
}

/// Refuses an empty or blank text block. `of` is the field that contains it.
pub(super) fn not_blank(of: &str, block: &Value) -> Result<(), Refusal> {
    match block["text"].as_str() {
        Some("") if block["type"] == "text" => Err(Refusal::empty_text(of)),
        Some(text) if block["type"] == "text" && text.trim().is_empty() => {
            Err(Refusal::blank_text(of))
        }
        _ => Ok(()),
    }
}

fn message_not_blank(message: &Message<'_>) -> Result<(), Refusal> {
    if message.content.as_str().is_some_and(|text| !text.is_empty() && text.trim().is_empty()) {
        return Err(Refusal::blank_text("messages"));
    }
    for block in message.blocks() {
        not_blank("messages", block.value)?;
        let result_blocks =
            block.value["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        result_blocks.iter().try_for_each(|block| not_blank("messages", block))?;
    }
    Ok(())
}

/// The last assistant message is a prefill that the model continues, so it must not end with space.
fn no_trailing_whitespace(last: &Message<'_>) -> Result<(), Refusal> {
    let last_block_text = || last.blocks().next_back().map(|block| block.text("text"));
    let text = last.content.as_str().or_else(last_block_text).unwrap_or_default();
    if text.ends_with(char::is_whitespace) { Err(Refusal::trailing_whitespace()) } else { Ok(()) }
}
