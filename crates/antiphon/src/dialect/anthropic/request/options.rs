//! The fields other than items, tools and thinking.

use super::model::Model;
use super::{AnthropicOmissions, unsupported};
use crate::dialect::request::{RequestPath, Unsupported};
use crate::json::{Object, elements, unquote};

/// The fields of a Responses API request, `max_tokens` and `thinking`. A field that is neither here
/// nor in [`REFUSED`] is sent unchanged.
const KNOWN: [&str; 31] = [
    "client_metadata",
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
    "thinking",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// Fields that would change the meaning of the request if they were left out.
const REFUSED: [(&str, &str); 5] = [
    ("background", "the Anthropic Messages API has no background responses"),
    ("context_management", "the Anthropic Messages API has no such compaction"),
    ("prompt", "the Anthropic Messages API has no stored prompts"),
    ("messages", "the messages for the Anthropic Messages API come from 'input'"),
    ("system", "the system prompt for the Anthropic Messages API comes from 'instructions'"),
];

/// Optional fields that Anthropic does not have, with the values that mean the default.
const LEFT_OUT: [(&str, &[&str]); 9] = [
    ("client_metadata", &["{}"]),
    ("frequency_penalty", &["0", "0.0"]),
    ("max_tool_calls", &[]),
    ("metadata", &["{}"]),
    ("presence_penalty", &["0", "0.0"]),
    ("prompt_cache_key", &[r#""""#]),
    ("prompt_cache_retention", &[]),
    ("top_logprobs", &["0"]),
    ("truncation", &[r#""disabled""#]),
];

/// Rejects a request with a field that cannot be sent and must not be left out.
pub(super) fn refuse(fields: &Object<'_>) -> Result<(), Unsupported> {
    for (field, why) in REFUSED {
        if fields.present(field).is_some_and(|raw| raw != "false" && raw != "[]") {
            return Err(unsupported(RequestPath::field(field), why));
        }
    }
    Ok(())
}

/// Writes the fields that have a counterpart, and those that the Responses API does not have.
/// Reports a field that is left out, except defaults and the fields of the state's owner (`store`,
/// `conversation`, …).
pub(super) fn write(
    fields: &Object<'_>,
    body: &mut Object<'_>,
    omissions: &mut AnthropicOmissions,
) {
    if let Some(user) = fields.present("safety_identifier").or_else(|| fields.present("user")) {
        body.set("metadata", format!(r#"{{"user_id":{user}}}"#));
    }
    if let Some(tier) = service_tier(fields, omissions) {
        body.set("service_tier", tier);
    }
    for (field, defaults) in LEFT_OUT {
        if fields.present(field).is_some_and(|raw| !defaults.contains(&raw)) {
            let why = "the Anthropic Messages API has no counterpart";
            omissions.leave_out(RequestPath::field(field), why);
        }
    }
    leave_out_of_text(fields, omissions);
    leave_out_of_include(fields, omissions);
    for (field, raw) in fields.iter().filter(|(field, raw)| *raw != "null" && !is_known(field)) {
        body.set(field.to_owned(), raw.to_owned());
    }
}

/// Whether the field is neither sent unchanged nor unknown.
pub(super) fn is_known(field: &str) -> bool {
    KNOWN.contains(&field) || REFUSED.iter().any(|(refused, _)| *refused == field)
}

/// Anthropic's tiers: `auto` (priority capacity if available) and `standard_only`.
fn service_tier(fields: &Object<'_>, omissions: &mut AnthropicOmissions) -> Option<&'static str> {
    let tier = fields.string("service_tier")?;
    match &*tier {
        "auto" => Some(r#""auto""#),
        "default" | "standard_only" => Some(r#""standard_only""#),
        other => {
            let why = format!("the Anthropic Messages API has no service tier '{other}'");
            omissions.leave_out(RequestPath::field("service_tier"), &why);
            None
        }
    }
}

fn leave_out_of_text(fields: &Object<'_>, omissions: &mut AnthropicOmissions) {
    let text = fields.present("text").and_then(|raw| Object::parse(raw.as_bytes()).ok());
    if text.is_some_and(|text| text.present("verbosity").is_some()) {
        let why = "the Anthropic Messages API has no counterpart";
        omissions.leave_out(RequestPath::field("text.verbosity"), why);
    }
}

/// Reports the values of `include` except sealed reasoning, which the answer always contains.
fn leave_out_of_include(fields: &Object<'_>, omissions: &mut AnthropicOmissions) {
    let included = fields.present("include").and_then(elements).unwrap_or_default();
    for (number, included) in included.into_iter().enumerate() {
        if unquote(included).as_deref() != Some("reasoning.encrypted_content") {
            let place = RequestPath::field(format!("include[{number}]"));
            omissions
                .leave_out(place, "an answer of the Anthropic Messages API does not contain it");
        }
    }
}

/// The sampling parameters. They are optional: a value that the model would reject is left out or
/// changed, and reported.
///
/// - A model that rejects both parameters gets neither; nor does a request with thinking.
/// - A model that takes one parameter gets `temperature`.
/// - A `temperature` above 1, Anthropic's maximum, is sent as 1.
///
/// A value of 1 is the default, so leaving it out is not reported.
#[derive(Default)]
pub(super) struct Sampling {
    temperature: Option<String>,
    top_p: Option<String>,
}

impl Sampling {
    pub(super) fn from_fields(
        fields: &Object<'_>,
        model: &Model,
        thinks: bool,
        omissions: &mut AnthropicOmissions,
    ) -> Self {
        let mut sampling = Self {
            temperature: temperature(fields, omissions),
            top_p: fields.present("top_p").map(str::to_owned),
        };
        if !model.allows_sampling() {
            sampling.leave_out_all("this Anthropic model rejects it", omissions);
        } else if thinks {
            sampling
                .leave_out_all("the Anthropic Messages API rejects it with thinking", omissions);
        } else if sampling.temperature.is_some() && !model.allows_both_sampling_fields() {
            let why = "this Anthropic model rejects it together with 'temperature'";
            leave_out("top_p", sampling.top_p.take(), why, omissions);
        }
        sampling
    }

    pub(super) fn write(self, body: &mut Object<'_>) {
        for (field, raw) in [("temperature", self.temperature), ("top_p", self.top_p)] {
            if let Some(raw) = raw {
                body.set(field, raw);
            }
        }
    }

    fn leave_out_all(&mut self, why: &str, omissions: &mut AnthropicOmissions) {
        leave_out("temperature", self.temperature.take(), why, omissions);
        leave_out("top_p", self.top_p.take(), why, omissions);
    }
}

fn temperature(fields: &Object<'_>, omissions: &mut AnthropicOmissions) -> Option<String> {
    let raw = fields.present("temperature")?;
    if raw.parse().is_ok_and(|value: f64| value > 1.0) {
        let how = "the Anthropic Messages API takes temperatures from 0 to 1; 1 is sent";
        omissions.change(RequestPath::field("temperature"), how);
        return Some("1".to_owned());
    }
    Some(raw.to_owned())
}

fn leave_out(field: &str, raw: Option<String>, why: &str, omissions: &mut AnthropicOmissions) {
    let is_default = |raw: &String| raw.parse::<f64>().is_ok_and(|value| value >= 1.0);
    if raw.is_some_and(|raw| !is_default(&raw)) {
        omissions.leave_out(RequestPath::field(field), why);
    }
}
