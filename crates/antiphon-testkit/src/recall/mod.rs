//! The default model: deterministic, and honest about its context.
//!
//! It knows only what the request's `input` holds, so an answer shows what was lost on the way:
//!
//! - after tool outputs: `echo said: <output>`, several trailing outputs joined by `; `;
//! - a user who names a tool: reasoning (if the model reasons), then a call of each named tool with
//!   the text behind its name, or two if the text says `twice`; not with `tool_choice: "none"`;
//! - a question about a color or a dog: what the user messages say with `color is X` and `dog is Y`,
//!   `X, Y`, or `I do not know.`;
//! - anything else: `Noted.`
//!
//! Ids follow from the whole input, so they differ from turn to turn and repeat on a replay.
//!
//! It reads one form of request, the Responses API's; those of the other APIs are [`read`] as one.

mod anthropic;
mod chat;
mod facts;
mod read;
mod tools;
mod transcript;

use serde_json::Value;

use crate::judge::{includes_encrypted_reasoning, reasons};
use crate::{Answer, digest};
use transcript::Transcript;

pub use read::read;

/// Answers a request that the judge let pass, in the Responses API's form.
pub fn answer(request: &Value) -> Answer {
    answer_with(request, &request["input"].to_string())
}

/// The same answer, whose ids follow from `seed` instead of the input.
pub fn answer_with(request: &Value, seed: &str) -> Answer {
    let transcript = Transcript::of(request);
    let model = request["model"].as_str().unwrap_or_default();
    let answer = Answer::new(model).request(request).seed(seed);
    if let Some(outputs) = transcript.trailing_outputs() {
        return answer.message(format!("echo said: {}", outputs.join("; ")));
    }
    let said = transcript.last_user_text();
    let calls = tools::calls(request, said);
    if calls.is_empty() {
        let facts = facts::answer(said, &transcript.user_texts());
        return answer.message(facts.unwrap_or_else(|| "Noted.".to_owned()));
    }
    with_calls(thinking(answer, request, model), seed, &calls)
}

/// Reasoning, from a model that reasons unless it is told not to, sealed as the request wants it.
fn thinking(answer: Answer, request: &Value, model: &str) -> Answer {
    if !reasons(model) || request["reasoning"]["effort"] == "none" {
        return answer;
    }
    let answer = answer.reasoning("The user names a tool, so I call it.");
    if includes_encrypted_reasoning(request) { answer } else { answer.without_encrypted_content() }
}

fn with_calls(answer: Answer, seed: &str, calls: &[tools::Call<'_>]) -> Answer {
    calls.iter().enumerate().fold(answer, |answer, (index, call)| {
        let call_id = format!("call_{}", &digest::hex(&["call", seed, &index.to_string()])[..24]);
        answer.call(call_id, call.name, call.arguments.to_string())
    })
}
