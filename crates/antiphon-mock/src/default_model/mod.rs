//! The default model: deterministic, with no knowledge except its input.
//!
//! It knows only the request's `input`, so its answer shows a lost item:
//!
//! - after tool outputs: `echo said: <output>`; several trailing outputs are joined by `; `;
//! - if the user names tools, those of a namespace as `namespace__name`, a search that the client
//!   runs as `tool_search`: reasoning (if the model reasons), then a call of each named tool with
//!   the text after its name as each required string, or two calls if the text contains `twice`; no
//!   calls with `tool_choice: "none"` or after `Do NOT call any tools.`; with fewer than 64
//!   `max_output_tokens` the answer ends incomplete after its reasoning;
//! - a question about a color or a dog: the facts `X, Y` from the user's statements `color is X`
//!   and `dog is Y`, or `I do not know.`;
//! - otherwise: `Noted.`
//!
//! Ids are derived from the whole input, so they differ from turn to turn and repeat on a replay.
//!
//! The model reads requests of the Responses API; [`normalize()`] converts those of the other APIs.
//!
//! ```
//! use antiphon_mock::default_model::answer;
//! use serde_json::json;
//!
//! let request = json!({"model": "plain-1", "input": "Good morning."});
//! assert_eq!(answer(&request).output()[0]["content"][0]["text"], "Noted.");
//! ```

mod anthropic;
mod chat;
mod facts;
mod tools;
mod transcript;

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::judge::{includes_encrypted_reasoning, reasons};
use crate::{Answer, Api, digest};
use transcript::{Transcript, text_of};

/// The tokens of the model's reasoning: OpenAI counts reasoning in multiples of 64.
const REASONING_TOKENS: u64 = 64;

/// Answers a valid request in the Responses API's form.
pub fn answer(request: &Value) -> Answer {
    answer_with(request, &request["input"].to_string())
}

/// Like [`answer`], with ids derived from `seed` in place of the input.
pub fn answer_with(request: &Value, seed: &str) -> Answer {
    let transcript = Transcript::from_request(request);
    let model = request["model"].as_str().unwrap_or_default();
    let answer = Answer::new(model).request(request).seed(seed);
    if let Some(outputs) = transcript.trailing_outputs() {
        return answer.message(format!("echo said: {}", outputs.join("; ")));
    }
    let message = transcript.last_user_text();
    let calls = tools::calls(request, message);
    if calls.is_empty() {
        let facts = facts::answer(message, &transcript.user_texts());
        return answer.message(facts.unwrap_or_else(|| "Noted.".to_owned()));
    }
    if !thinks(request, model) {
        return with_calls(answer, seed, &calls);
    }
    let answer = thinking(answer, request);
    if ends_in_reasoning(request) { answer.incomplete() } else { with_calls(answer, seed, &calls) }
}

/// Whether the model reasons and the request does not disable it.
fn thinks(request: &Value, model: &str) -> bool {
    reasons(model) && request["reasoning"]["effort"] != "none"
}

fn thinking(answer: Answer, request: &Value) -> Answer {
    let answer = answer.reasoning("The user names a tool, so I call it.");
    if includes_encrypted_reasoning(request) { answer } else { answer.without_encrypted_content() }
}

/// Whether reasoning uses up `max_output_tokens`.
fn ends_in_reasoning(request: &Value) -> bool {
    request["max_output_tokens"].as_u64().is_some_and(|most| most < REASONING_TOKENS)
}

fn with_calls(answer: Answer, seed: &str, calls: &[tools::Call<'_>]) -> Answer {
    calls.iter().enumerate().fold(answer, |answer, (index, call)| {
        let digits = &digest::hex(&["call", seed, &index.to_string()])[..24];
        let (call_id, arguments) = (format!("call_{digits}"), call.arguments.to_string());
        match call.namespace {
            None if call.is_search => answer.item(json!({
                "type": "tool_search_call", "id": format!("tsc_{digits}"), "status": "completed",
                "call_id": call_id, "execution": "client", "arguments": call.arguments,
            })),
            None => answer.call(call_id, call.name, arguments),
            Some(namespace) => answer.item(json!({
                "type": "function_call", "id": format!("fc_{digits}"), "status": "completed",
                "call_id": call_id, "name": call.name, "namespace": namespace,
                "arguments": arguments,
            })),
        }
    })
}

/// Converts a request into the Responses API's form: the conversation as `input` items and the
/// tools as functions. A request of the Responses API stays as it is.
///
/// The result is for reading only; it lacks everything except the conversation.
pub fn normalize(api: Api, request: &Value) -> Cow<'_, Value> {
    match api {
        Api::Responses => Cow::Borrowed(request),
        Api::Chat => Cow::Owned(chat::read(request)),
        Api::Anthropic => Cow::Owned(anthropic::read(request)),
    }
}

/// The text of instructions; null if there are none.
fn instructions(content: &Value) -> Value {
    if content.is_null() { Value::Null } else { text_of(content).into() }
}

/// The request without its null fields.
fn present(mut request: Value) -> Value {
    if let Some(fields) = request.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    request
}
