//! The judge of Chat Completions, as OpenAI and `DeepSeek` serve it.

mod calls;
mod content;
mod field;
mod message;
mod parameters;
mod reasoning;
mod tools;

use serde_json::Value;

use crate::Refusal;
use field::Field;
use message::Message;

pub(crate) use reasoning::thinks;

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
    if thinks(model, body) { reasoning::check_passed_back(&messages) } else { Ok(()) }
}
