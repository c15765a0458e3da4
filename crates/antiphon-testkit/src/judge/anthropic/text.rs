//! Texts that say nothing.

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

/// A text block says something. `of` is the field that holds it.
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
        let of_result = block.value["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        of_result.iter().try_for_each(|block| not_blank("messages", block))?;
    }
    Ok(())
}

/// The model would go on from there.
fn no_trailing_whitespace(last: &Message<'_>) -> Result<(), Refusal> {
    let of_blocks = || last.blocks().next_back().map(|block| block.text("text"));
    let text = last.content.as_str().or_else(of_blocks).unwrap_or_default();
    if text.ends_with(char::is_whitespace) { Err(Refusal::trailing_whitespace()) } else { Ok(()) }
}
