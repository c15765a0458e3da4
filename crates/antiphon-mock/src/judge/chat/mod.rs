//! The judge of Chat Completions, as OpenAI and `DeepSeek` serve it.

mod calls;
mod content;
mod field;
mod message;
mod parameters;
mod tools;

use serde_json::Value;

use crate::Refusal;
use crate::judge::reasons;
use field::Field;
use message::Message;

/// Validates the body of `POST /v1/chat/completions` and returns the first refusal.
///
/// The order is parameters, tools, each message alone, then the relations between the messages.
/// Unknown parameters are refused, including those of the Responses API. If the model
/// [thinks](crate::default_model), `reasoning_content` must be sent back as `DeepSeek` requires: on
/// every assistant message with tool calls since the last user message.
pub fn validate(body: &Value) -> Result<(), Refusal> {
    let request = Field::root(body);
    let model = parameters::check(&request)?;
    tools::check(&request)?;
    let messages = request.required("messages")?.array()?;
    let messages: Vec<Message<'_>> =
        messages.into_iter().enumerate().map(Message::read).collect::<Result<_, _>>()?;

    calls::check(&messages)?;
    if thinks(model, body) { check_reasoning_passed_back(&messages) } else { Ok(()) }
}

/// Whether `model` thinks before it answers: it reasons, and the request does not disable it.
pub(crate) fn thinks(model: &str, request: &Value) -> bool {
    reasons(model) && request["reasoning_effort"] != "none"
}

/// Checks that each message with tool calls since the last user message has its reasoning.
fn check_reasoning_passed_back(messages: &[Message<'_>]) -> Result<(), Refusal> {
    let turn = messages.iter().rev().take_while(|message| message.role != "user");
    let is_lost = |message: &Message<'_>| {
        !message.calls.is_empty() && message.reasoning_content.is_none_or(str::is_empty)
    };
    match turn.into_iter().any(is_lost) {
        true => Err(Refusal::reasoning_content_not_passed_back()),
        false => Ok(()),
    }
}
