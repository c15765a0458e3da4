//! The parameters of a request, except messages and tools.

use http::HeaderMap;

use super::field::Field;
use super::{block, text, thinking};
use crate::Refusal;

const KNOWN: [&str; 18] = [
    "cache_control",
    "container",
    "inference_geo",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

/// The parameters that a value of `anthropic-beta` adds.
const BETAS: [(&str, &str); 1] = [("context-management-2025-06-27", "context_management")];

/// The parameters that these headers add.
pub(super) fn of_betas(headers: &HeaderMap) -> Vec<&'static str> {
    let values = headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    let asked: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    let added = BETAS.iter().filter(|(beta, _)| asked.contains(beta));
    added.map(|(_, parameter)| *parameter).collect()
}

/// Checks all parameters except messages and tools, and returns the model's name. `added` are
/// parameters that the request's headers add.
pub(super) fn check<'a>(request: &Field<'a>, added: &[&'static str]) -> Result<&'a str, Refusal> {
    let model = request.required("model")?.text()?;
    let max_tokens = request.required("max_tokens")?.integer_from(1)?;
    request.required("messages")?;
    request.only(&[&KNOWN[..], added].concat())?;
    if let Some(metadata) = request.present("metadata") {
        metadata.only(&["user_id"])?;
    }
    if let Some(output) = request.present("output_config") {
        output.only(&["effort", "format", "task_budget"])?;
    }
    system(request)?;
    stop_sequences(request)?;
    sampling(request)?;
    thinking::parameters(request, max_tokens)?;
    Ok(model)
}

fn system(request: &Field<'_>) -> Result<(), Refusal> {
    let Some(system) = request.present("system").filter(|system| !system.value().is_string())
    else {
        return Ok(());
    };
    system.array()?.iter().try_for_each(|it| {
        block::check(it, &["text"])?;
        text::not_blank("system", it.value())
    })
}

fn stop_sequences(request: &Field<'_>) -> Result<(), Refusal> {
    let Some(sequences) = request.present("stop_sequences") else {
        return Ok(());
    };
    sequences.array()?.iter().try_for_each(|sequence| match sequence.text()?.trim() {
        "" => Err(Refusal::blank_stop_sequence()),
        _ => Ok(()),
    })
}

fn sampling(request: &Field<'_>) -> Result<(), Refusal> {
    let (temperature, top_p) = (request.present("temperature"), request.present("top_p"));
    for number in [&temperature, &top_p].into_iter().flatten() {
        number.number_between(0..=1)?;
    }
    if let Some(top_k) = request.present("top_k") {
        top_k.integer_from(0)?;
    }
    match (temperature, top_p) {
        (Some(_), Some(_)) => Err(Refusal::two_samplings()),
        _ => Ok(()),
    }
}
