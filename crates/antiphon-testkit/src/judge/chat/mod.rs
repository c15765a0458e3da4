//! Would OpenAI, or `DeepSeek`, accept this chat completion?

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

/// Judges the body of `POST /v1/chat/completions`: the first refusal that it deserves, or none.
///
/// First the parameters, then the tools, then each message by itself, then what the messages are
/// to each other. Parameters that nobody knows are refused, those of the Responses API among them.
/// `reasoning_content` has to come back as `DeepSeek` wants it: on every assistant message with tool
/// calls since the last user message, where the model [thinks](crate::recall).
pub fn judge(body: &Value) -> Result<(), Refusal> {
    let request = Field::root(body);
    let model = parameters::check(&request)?;
    tools::check(&request)?;
    let messages = request.required("messages")?.array()?;
    let messages: Vec<Message<'_>> =
        messages.into_iter().enumerate().map(Message::read).collect::<Result<_, _>>()?;

    calls::check(&messages)?;
    if thinks(model, body) { reasoning::passed_back(&messages) } else { Ok(()) }
}
