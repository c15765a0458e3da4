//! The judge of Anthropic's Messages API.

mod block;
mod calls;
mod field;
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

/// Validates a request to `POST /v1/messages` and returns the first refusal.
///
/// The order is headers, parameters, tools, each message alone, then the relations between the
/// messages. Unknown fields are refused, unless a value of `anthropic-beta` adds them. Consecutive
/// messages of one role pass, because the provider merges them; tool results, however, must be in
/// the message right after their calls. Thinking must have the
/// [signature](crate::thinking_signature) that it was issued with, for the same model.
pub fn validate(headers: &HeaderMap, body: &Value) -> Result<(), Refusal> {
    check_headers(headers)?;
    let request = Field::root(body);
    let model = parameters::check(&request, &parameters::of_betas(headers))?;
    tools::check(&request)?;
    let messages = message::read_all(&request)?;

    calls::check(&messages)?;
    calls::have_tools(&messages, body)?;
    text::check(&messages)?;
    thinking::check(model, body, &messages)
}

const VERSIONS: [&str; 3] = ["2026-10-21", "2023-06-01", "2023-01-01"];

fn check_headers(headers: &HeaderMap) -> Result<(), Refusal> {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // The SDKs send the key as a bearer token since October 2026.
    let bearer = header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    if header("x-api-key").or(bearer).is_none_or(str::is_empty) {
        return Err(Refusal::no_api_key());
    }
    match header("anthropic-version") {
        None => Err(Refusal::no_version()),
        Some(version) if !VERSIONS.contains(&version) => Err(Refusal::unknown_version(version)),
        Some(_) => Ok(()),
    }
}
