//! The parameters of a request, except messages and tools.

use super::field::Field;
use crate::Refusal;
use crate::judge::reasons;

const KNOWN: [&str; 36] = [
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Checks all parameters except messages and tools, and returns the model's name.
pub(super) fn check<'a>(request: &Field<'a>) -> Result<&'a str, Refusal> {
    let model = request.present("model").ok_or_else(Refusal::no_model)?.text()?;
    request.required("messages")?;
    request.only(&KNOWN)?;
    limits(request, model)?;
    streaming(request)?;
    if let Some(effort) = request.present("reasoning_effort") {
        effort.one_of(&EFFORTS)?;
    }
    if request.present("metadata").is_some() && request.value()["store"] != true {
        return Err(Refusal::only_when_enabled("metadata", "store"));
    }
    response_format(request)?;
    Ok(model)
}

/// A reasoning model does not accept the older name of the token limit.
fn limits(request: &Field<'_>, model: &str) -> Result<(), Refusal> {
    if request.present("max_tokens").is_some() && reasons(model) {
        return Err(Refusal::unsupported_parameter("max_tokens", "max_completion_tokens"));
    }
    match request.present("max_completion_tokens") {
        Some(limit) if !limit.value().is_u64() => Err(limit.wrong_type("an integer")),
        _ => Ok(()),
    }
}

fn streaming(request: &Field<'_>) -> Result<(), Refusal> {
    let Some(options) = request.present("stream_options") else {
        return Ok(());
    };
    if request.value()["stream"] != true {
        return Err(Refusal::only_when_enabled("stream_options", "stream"));
    }
    options.only(&["include_usage", "include_obfuscation"])
}

fn response_format(request: &Field<'_>) -> Result<(), Refusal> {
    let Some(format) = request.present("response_format") else {
        return Ok(());
    };
    let kind = format.required("type")?.one_of(&["json_object", "json_schema", "text"])?;
    if kind != "json_schema" {
        return format.only(&["type"]);
    }
    let schema = format.required("json_schema")?;
    schema.required("name")?.name(64)?;
    schema.only(&["name", "description", "schema", "strict"])?;
    format.only(&["type", "json_schema"])
}
