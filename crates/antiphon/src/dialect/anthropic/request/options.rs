//! The fields that are neither items nor tools, sampling or thinking.

use serde_json::value::RawValue;

use super::report::{Report, unsupported};
use crate::dialect::request::{Place, Unsupported};
use crate::json::{Object, unquote};

/// What the Responses API's requests have, and `max_tokens`. All that is neither here nor refused
/// passes as it came.
const KNOWN: [&str; 29] = [
    "conversation",
    "frequency_penalty",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "max_tokens",
    "metadata",
    "model",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// Fields without which the request would mean something else.
const REFUSED: [(&str, &str); 5] = [
    ("background", "Anthropic Messages answer while they are waited for"),
    ("context_management", "Anthropic Messages have no such compaction"),
    ("prompt", "Anthropic Messages keep no prompts"),
    ("messages", "the messages of Anthropic Messages are made of 'input'"),
    ("system", "the system prompt of Anthropic Messages is made of 'instructions'"),
];

/// Wishes that the model can do without, with the values that ask for nothing.
const LEFT_OUT: [(&str, &[&str]); 8] = [
    ("frequency_penalty", &["0", "0.0"]),
    ("max_tool_calls", &[]),
    ("metadata", &["{}"]),
    ("presence_penalty", &["0", "0.0"]),
    ("prompt_cache_key", &[r#""""#]),
    ("prompt_cache_retention", &[]),
    ("top_logprobs", &["0"]),
    ("truncation", &[r#""disabled""#]),
];

/// An error where a field asks for what cannot be.
pub(super) fn refuse(fields: &Object<'_>) -> Result<(), Unsupported> {
    for (field, why) in REFUSED {
        if fields.present(field).is_some_and(|raw| raw != "false" && raw != "[]") {
            return Err(unsupported(Place::field(field), why));
        }
    }
    Ok(())
}

/// Writes the fields that have a counterpart, or that the Responses API does not know. What asks
/// for nothing, and what is the state's owner's (`store`, `conversation`, …), is not looked for.
pub(super) fn write(fields: &Object<'_>, body: &mut Object<'_>, report: &mut Report) {
    if let Some(user) = fields.present("safety_identifier").or_else(|| fields.present("user")) {
        body.set("metadata", format!(r#"{{"user_id":{user}}}"#));
    }
    if let Some(tier) = service_tier(fields, report) {
        body.set("service_tier", tier);
    }
    for (field, defaults) in LEFT_OUT {
        if fields.present(field).is_some_and(|raw| !defaults.contains(&raw)) {
            report.leave_out(Place::field(field), "Anthropic Messages have nothing like it");
        }
    }
    leave_out_of_text(fields, report);
    leave_out_of_include(fields, report);
    for (field, raw) in fields.iter().filter(|(field, raw)| *raw != "null" && !is_known(field)) {
        body.set(field.to_owned(), raw.to_owned());
    }
}

fn is_known(field: &str) -> bool {
    KNOWN.contains(&field) || REFUSED.iter().any(|(refused, _)| *refused == field)
}

/// Anthropic's tiers: `auto` (priority, where there is some) and `standard_only`.
fn service_tier(fields: &Object<'_>, report: &mut Report) -> Option<&'static str> {
    let tier = fields.string("service_tier")?;
    match &*tier {
        "auto" => Some(r#""auto""#),
        "default" | "standard_only" => Some(r#""standard_only""#),
        other => {
            let why = format!("Anthropic Messages have no service tier like '{other}'");
            report.leave_out(Place::field("service_tier"), &why);
            None
        }
    }
}

fn leave_out_of_text(fields: &Object<'_>, report: &mut Report) {
    let text = fields.present("text").and_then(|raw| Object::parse(raw.as_bytes()).ok());
    if text.is_some_and(|text| text.present("verbosity").is_some()) {
        report.leave_out(Place::field("text.verbosity"), "Anthropic Messages have nothing like it");
    }
}

/// `include` asks for what other providers' answers hold. Sealed reasoning always comes.
fn leave_out_of_include(fields: &Object<'_>, report: &mut Report) {
    let included: Option<Vec<&RawValue>> =
        fields.present("include").and_then(|raw| serde_json::from_str(raw).ok());
    for (number, included) in included.unwrap_or_default().iter().enumerate() {
        if unquote(included.get()).as_deref() != Some("reasoning.encrypted_content") {
            let place = Place::field(format!("include[{number}]"));
            report.leave_out(place, "answers in Anthropic Messages do not hold it");
        }
    }
}
