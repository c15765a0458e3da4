//! The reasoning that `DeepSeek` requires in later requests.

use serde_json::Value;

use super::message::Message;
use crate::Refusal;
use crate::judge::reasons;

/// Whether `model` thinks before it answers: it reasons, and the request does not disable it.
pub(crate) fn thinks(model: &str, request: &Value) -> bool {
    reasons(model) && request["reasoning_effort"] != "none"
}

/// Checks that each message with tool calls since the last user message has its reasoning.
pub(super) fn check_passed_back(messages: &[Message<'_>]) -> Result<(), Refusal> {
    let turn = messages.iter().rev().take_while(|message| message.role != "user");
    let is_lost = |message: &Message<'_>| {
        !message.calls.is_empty() && message.reasoning_content.is_none_or(str::is_empty)
    };
    match turn.into_iter().any(is_lost) {
        true => Err(Refusal::reasoning_content_not_passed_back()),
        false => Ok(()),
    }
}
