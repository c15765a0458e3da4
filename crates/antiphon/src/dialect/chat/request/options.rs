//! The fields other than messages and tools.

use super::{Body, ChatOmissions, unsupported};
use crate::dialect::chat::fields::Fields;
use crate::dialect::request::{RequestPath, Unsupported};
use crate::json::Object;

/// The rule for a field of the Responses API. `null` counts as absent.
struct Rule {
    field: &'static str,
    /// The value that means the same as an absent field.
    default: Option<&'static str>,
    fate: Handling,
}

enum Handling {
    /// The value is sent unchanged under this name.
    SentAs(&'static str),
    /// Other code encodes the field, or the state's owner handles it.
    Elsewhere,
    /// The field is left out, and reported.
    Omitted(&'static str),
    /// The request is rejected, because it would change its meaning without the field.
    Refused(&'static str),
}

use Handling::{Elsewhere, Omitted, Refused, SentAs};

const fn rule(field: &'static str, fate: Handling) -> Rule {
    Rule { field, default: None, fate }
}

const fn rule_with_default(default: &'static str, field: &'static str, fate: Handling) -> Rule {
    Rule { field, default: Some(default), fate }
}

const NO_STATE: &str = "it stores no conversations or responses";

/// The known fields, in the order in which they are sent.
///
/// `max_output_tokens` becomes `max_completion_tokens`: OpenAI's reasoning models reject
/// `max_tokens`, and reject both together. vLLM and SGLang accept either field, llama.cpp since
/// February 2026. Ollama and llama-cpp-python know only `max_tokens` and silently ignore the other
/// field (ollama/ollama#7125, abetlen/llama-cpp-python#1907). For those servers a client can send
/// `max_tokens` itself: a field that is not in this table is sent unchanged.
///
/// `store` is never sent: Chat Completions stores nothing by default, and some servers reject
/// unknown fields.
const RULES: &[Rule] = &[
    rule("model", Elsewhere),
    rule("input", Elsewhere),
    rule("instructions", Elsewhere),
    rule("tools", Elsewhere),
    rule("tool_choice", Elsewhere),
    rule("parallel_tool_calls", Elsewhere),
    rule("text", Elsewhere),
    rule("reasoning", Elsewhere),
    rule("include", Elsewhere),
    rule("top_logprobs", Elsewhere),
    rule("stream", Elsewhere),
    rule("stream_options", Elsewhere),
    rule("max_output_tokens", SentAs("max_completion_tokens")),
    rule("temperature", SentAs("temperature")),
    rule("top_p", SentAs("top_p")),
    rule("presence_penalty", SentAs("presence_penalty")),
    rule("frequency_penalty", SentAs("frequency_penalty")),
    rule_with_default(r#""auto""#, "service_tier", SentAs("service_tier")),
    rule("user", SentAs("user")),
    rule("safety_identifier", SentAs("safety_identifier")),
    rule("prompt_cache_key", SentAs("prompt_cache_key")),
    rule("prompt_cache_retention", SentAs("prompt_cache_retention")),
    rule_with_default("false", "store", Omitted("the upstream must not store the answer")),
    rule_with_default("{}", "metadata", Omitted("it takes metadata only for stored answers")),
    rule_with_default("{}", "client_metadata", Omitted("it takes no data about its clients")),
    rule_with_default(r#""disabled""#, "truncation", Omitted("it never truncates a conversation")),
    rule("max_tool_calls", Omitted("it has no hosted tools, which this field limits")),
    rule_with_default("false", "background", Refused("it has no background responses")),
    rule_with_default("[]", "context_management", Refused("it has no context management")),
    rule("prompt", Refused("it has no stored prompts")),
    rule("previous_response_id", Refused(NO_STATE)),
    rule("conversation", Refused(NO_STATE)),
    rule_with_default("1", "n", Refused("a response has only one answer")),
];

/// Writes the fields of the table.
pub(super) fn encode(
    request: &Object<'_>,
    body: &mut Body,
    omissions: &mut ChatOmissions,
) -> Result<(), Unsupported> {
    for rule in RULES {
        let value = request.present(rule.field).filter(|value| Some(*value) != rule.default);
        let Some(value) = value else { continue };
        match rule.fate {
            SentAs(name) => body.raw(name, value),
            Elsewhere => {}
            Omitted(because) => omissions.leave_out(RequestPath::field(rule.field), because),
            Refused(because) => return Err(unsupported(RequestPath::field(rule.field), because)),
        }
    }
    Ok(())
}

/// Writes the unknown fields unchanged: servers have their own parameters (`top_k`,
/// `chat_template_kwargs`), and Chat Completions has fields that the Responses API lacks (`stop`,
/// `seed`). A field that the body already has is left out.
pub(super) fn encode_unknown(request: &Object<'_>, body: &mut Body, omissions: &mut ChatOmissions) {
    let unknown = request.iter().filter(|(name, raw)| *raw != "null" && !is_known(name));
    for (name, raw) in unknown {
        if body.has(name) {
            let because = "the fields of the Responses API already set it";
            omissions.leave_out(RequestPath::field(name), because);
        } else {
            body.unknown(name, raw);
        }
    }
}

/// Whether the Responses API has a field with this name.
pub(in crate::dialect::chat) fn is_known(name: &str) -> bool {
    RULES.iter().any(|rule| rule.field == name)
}

const LOGPROBS: &str = "message.output_text.logprobs";
/// Reasoning is always included: the decoder seals it.
const REASONING: &str = "reasoning.encrypted_content";

/// Writes `logprobs` and `top_logprobs`. Servers accept the second only with the first.
pub(super) fn encode_logprobs(
    request: &Object<'_>,
    body: &mut Body,
    omissions: &mut ChatOmissions,
) {
    let includes = request.present("include").and_then(|raw| serde_json::from_str(raw).ok());
    let includes: Vec<String> = includes.unwrap_or_default();
    let top = request.present("top_logprobs").filter(|top| *top != "0");
    if top.is_some() || includes.iter().any(|include| include == LOGPROBS) {
        body.raw("logprobs", "true");
    }
    body.present("top_logprobs", top);
    for (position, include) in includes.iter().enumerate() {
        if !matches!(&**include, LOGPROBS | REASONING) {
            let place = RequestPath::field(format!("include[{position}]"));
            omissions.leave_out(place, "its answers do not contain this");
        }
    }
}

/// Writes `response_format`, `verbosity` and `reasoning_effort`.
pub(super) fn encode_formats(
    request: &Object<'_>,
    body: &mut Body,
    omissions: &mut ChatOmissions,
) -> Result<(), Unsupported> {
    if let Some(text) = object(request, "text")? {
        if let Some(format) = object(&text, "format").map_err(|_| not_an_object("text.format"))? {
            body.present("response_format", response_format(&format)?.as_deref());
        }
        body.present("verbosity", text.present("verbosity"));
        leave_out_others("text", &text, &["format", "verbosity"], omissions);
    }
    if let Some(reasoning) = object(request, "reasoning")? {
        body.present("reasoning_effort", reasoning.present("effort"));
        leave_out_others("reasoning", &reasoning, &["effort"], omissions);
    }
    Ok(())
}

/// The format in the form of Chat Completions, which nests the schema one level deeper. Plain text
/// is the default.
fn response_format(format: &Object<'_>) -> Result<Option<String>, Unsupported> {
    match format.string("type").as_deref() {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(r#"{"type":"json_object"}"#.into())),
        Some("json_schema") => {
            let fields = format.iter().filter(|(name, raw)| *name != "type" && *raw != "null");
            let schema = Fields::new().all(fields).json();
            Ok(Some(Fields::with_type("json_schema").raw("json_schema", &schema).json()))
        }
        _ => {
            let because = "its formats are text, json_object and json_schema";
            Err(unsupported(RequestPath::field("text.format.type"), because))
        }
    }
}

/// Reports the other fields, for example a summary of the reasoning, which the API cannot request.
fn leave_out_others(
    field: &str,
    object: &Object<'_>,
    carried: &[&str],
    omissions: &mut ChatOmissions,
) {
    for (name, raw) in object.iter() {
        if raw != "null" && !carried.contains(&name) {
            omissions
                .leave_out(RequestPath::field(format!("{field}.{name}")), "it has no such field");
        }
    }
}

fn object<'a>(parent: &'a Object<'_>, field: &str) -> Result<Option<Object<'a>>, Unsupported> {
    let value = parent.present(field).map(|raw| Object::parse(raw.as_bytes()));
    value.transpose().map_err(|_| not_an_object(field))
}

fn not_an_object(field: &str) -> Unsupported {
    unsupported(RequestPath::field(field), "expected an object")
}
