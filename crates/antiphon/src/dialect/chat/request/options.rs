//! The request's fields that are no messages, tools or formats.

use super::body::Body;
use super::report::{Report, unsupported};
use crate::dialect::request::{Place, Unsupported};
use crate::json::Object;

/// A field of the Responses API and what becomes of it. `null` counts as absent.
struct Rule {
    field: &'static str,
    /// The value that says no more than the field's absence.
    default: Option<&'static str>,
    fate: Fate,
}

enum Fate {
    /// It goes under this name, its value as it came.
    SentAs(&'static str),
    /// It is written by its own rules, or is another's affair.
    Apart,
    /// It is left out, and reported.
    LeftOut(&'static str),
    /// The request would mean something else without it.
    Refused(&'static str),
}

use Fate::{Apart, LeftOut, Refused, SentAs};

const fn rule(field: &'static str, fate: Fate) -> Rule {
    Rule { field, default: None, fate }
}

const fn unless(default: &'static str, field: &'static str, fate: Fate) -> Rule {
    Rule { field, default: Some(default), fate }
}

const NO_STATE: &str = "it keeps no conversations and no responses";

/// Every field that is known, in the order in which they are sent.
///
/// `max_output_tokens` goes as `max_completion_tokens`: OpenAI's reasoning models refuse
/// `max_tokens`, and refuse both together. vLLM and SGLang take either, llama.cpp since February 2026.
/// Ollama and llama-cpp-python know only `max_tokens` and pass over the other without a word
/// (ollama/ollama#7125, abetlen/llama-cpp-python#1907): an answer of theirs is bounded where the
/// caller sends `max_tokens`, which, like every field that is not in this table, is passed on.
///
/// `store` never goes: to keep nothing is Chat Completions' default, and some servers refuse fields
/// that they do not know.
const RULES: &[Rule] = &[
    rule("model", Apart),
    rule("input", Apart),
    rule("instructions", Apart),
    rule("tools", Apart),
    rule("tool_choice", Apart),
    rule("parallel_tool_calls", Apart),
    rule("text", Apart),
    rule("reasoning", Apart),
    rule("include", Apart),
    rule("top_logprobs", Apart),
    rule("stream", Apart),
    rule("stream_options", Apart),
    rule("max_output_tokens", SentAs("max_completion_tokens")),
    rule("temperature", SentAs("temperature")),
    rule("top_p", SentAs("top_p")),
    rule("presence_penalty", SentAs("presence_penalty")),
    rule("frequency_penalty", SentAs("frequency_penalty")),
    unless(r#""auto""#, "service_tier", SentAs("service_tier")),
    rule("user", SentAs("user")),
    rule("safety_identifier", SentAs("safety_identifier")),
    rule("prompt_cache_key", SentAs("prompt_cache_key")),
    rule("prompt_cache_retention", SentAs("prompt_cache_retention")),
    unless("false", "store", LeftOut("the upstream is asked to keep nothing")),
    unless("{}", "metadata", LeftOut("it takes metadata only of what it stores")),
    unless(r#""disabled""#, "truncation", LeftOut("it never shortens a conversation")),
    rule("max_tool_calls", LeftOut("it has no tools that run by themselves, which this bounds")),
    unless("false", "background", Refused("it answers while the caller waits")),
    unless("[]", "context_management", Refused("it manages no context")),
    rule("prompt", Refused("it knows no stored prompts")),
    rule("previous_response_id", Refused(NO_STATE)),
    rule("conversation", Refused(NO_STATE)),
    unless("1", "n", Refused("a response has one answer")),
];

/// Writes the fields that the table names.
pub(super) fn encode(
    request: &Object<'_>,
    body: &mut Body,
    report: &mut Report,
) -> Result<(), Unsupported> {
    for rule in RULES {
        let value = request.present(rule.field).filter(|value| Some(*value) != rule.default);
        let Some(value) = value else { continue };
        match rule.fate {
            SentAs(name) => body.raw(name, value),
            Apart => {}
            LeftOut(because) => report.leave_out(Place::field(rule.field), because),
            Refused(because) => return Err(unsupported(Place::field(rule.field), because)),
        }
    }
    Ok(())
}

/// Passes on the fields that nobody here knows, as they came: servers take sampling parameters and
/// more of their own (`top_k`, `chat_template_kwargs`), and Chat Completions has fields that the
/// Responses API lacks (`stop`, `seed`). What is written already is not written twice.
pub(super) fn pass_on(request: &Object<'_>, body: &mut Body, report: &mut Report) {
    let unknown = request.iter().filter(|(name, raw)| *raw != "null" && !is_known(name));
    for (name, raw) in unknown {
        if body.holds(name) {
            let because = "it is written from the fields of the Responses API";
            report.leave_out(Place::field(name), because);
        } else {
            body.unknown(name, raw);
        }
    }
}

fn is_known(name: &str) -> bool {
    RULES.iter().any(|rule| rule.field == name)
}
