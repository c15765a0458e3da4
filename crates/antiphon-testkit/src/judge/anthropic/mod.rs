//! Would Anthropic accept this message?

mod block;
mod calls;
mod field;
mod headers;
mod message;
mod parameters;
mod text;
mod thinking;
mod tools;

use http::HeaderMap;
use serde_json::Value;

use crate::Refusal;
use field::Field;

pub(crate) use thinking::thinks;

/// Judges a request to `POST /v1/messages`: the first refusal that it deserves, or none.
///
/// First the headers, then the parameters and the tools, then each message by itself, then what
/// the messages are to each other. Fields that nobody knows are refused. Several messages of one
/// role in a row pass, as the provider joins them; results, though, have to stand in the one
/// message right after their calls. Thinking comes back under the
/// [signature](crate::thinking_signature) that it was issued with, to the same model.
pub fn judge(headers: &HeaderMap, body: &Value) -> Result<(), Refusal> {
    headers::check(headers)?;
    let request = Field::root(body);
    let model = parameters::check(&request)?;
    tools::check(&request)?;
    let messages = message::read_all(&request)?;

    calls::check(&messages)?;
    calls::have_tools(&messages, body)?;
    text::check(&messages)?;
    thinking::check(model, body, &messages)
}
