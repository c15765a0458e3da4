//! The fields other than messages, tools and reasoning.

use super::RequestDecoder;
use super::field::Fields;
use crate::dialect::{InvalidRequest, UpstreamApi};

/// The maximum length of `safety_identifier` in characters, by OpenAI's errors.
const LONGEST_IDENTIFIER: usize = 64;

/// Rejects a request without `max_tokens`.
pub(super) fn check_max_tokens(request: &Fields<'_>) -> Result<(), InvalidRequest> {
    request.required("max_tokens")?.integer_from(1).map(drop)
}

pub(super) fn decode(
    request: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    if let Some(stream) = request.present("stream") {
        stream.boolean()?;
        decoder.set_raw("stream", stream.raw());
    }
    max_tokens(request, decoder)?;
    instructions(request, decoder)?;
    sampling(request, decoder)?;
    top_k(request, decoder)?;
    stop_sequences(request, decoder)?;
    user(request, decoder)?;
    service_tier(request, decoder)
}

/// `temperature` and `top_p`. A value of 1 is the default of every API, but some models of other
/// upstreams reject the field.
fn sampling(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    for key in ["temperature", "top_p"] {
        let Some(number) = request.present(key) else { continue };
        let value = number.fraction()?;
        if value < 1.0 || decoder.is_for(UpstreamApi::Anthropic) {
            decoder.set_raw(key, number.raw());
        }
    }
    Ok(())
}

fn max_tokens(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let Some(field) = request.present("max_tokens") else { return Ok(()) };
    decoder.limit_output(field.path(), field.integer_from(1)?);
    Ok(())
}

/// The texts of the system prompt, joined by empty lines. Blank texts say nothing.
fn instructions(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let Some(system) = request.present("system") else { return Ok(()) };
    let mut texts = Vec::new();
    if system.is_text() {
        texts.push(system.text()?);
    } else {
        for block in system.array()? {
            let block = block.object()?;
            let typed = block.typed(&block.kind()?);
            texts.push(typed.required("text")?.text()?);
        }
    }
    texts.retain(|text| !text.trim().is_empty());
    if !texts.is_empty() {
        decoder.set_text("instructions", &texts.join("\n\n"));
    }
    Ok(())
}

fn top_k(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let Some(top_k) = request.present("top_k") else { return Ok(()) };
    top_k.integer_from(0)?;
    match decoder.is_for(UpstreamApi::Anthropic) {
        true => decoder.set_raw("top_k", top_k.raw()),
        false => decoder.leave_out("top_k", "the upstream has no counterpart"),
    }
    Ok(())
}

fn stop_sequences(
    request: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    let Some(sequences) = request.present("stop_sequences") else { return Ok(()) };
    let list = sequences.array()?;
    list.iter().try_for_each(|sequence| sequence.text().map(drop))?;
    match decoder.upstream {
        UpstreamApi::Anthropic => decoder.set_raw("stop_sequences", sequences.raw()),
        _ if list.is_empty() => {}
        UpstreamApi::Chat => decoder.set_raw("stop", sequences.raw()),
        UpstreamApi::Responses => {
            decoder.leave_out("stop_sequences", "the Responses API has no counterpart");
        }
    }
    Ok(())
}

/// `metadata`: the conversation is for the gateway, and `user_id` for the upstream. Anthropic's
/// clients send longer ids than the Responses API takes.
fn user(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let Some(metadata) = request.present("metadata") else { return Ok(()) };
    let metadata = metadata.object()?;
    metadata.present("conversation").map(|id| id.text()).transpose()?;
    let Some(user) = metadata.present("user_id") else { return Ok(()) };
    let id = user.text()?;
    match decoder.upstream {
        UpstreamApi::Anthropic | UpstreamApi::Chat => decoder.set_raw("user", user.raw()),
        UpstreamApi::Responses if id.chars().count() <= LONGEST_IDENTIFIER => {
            decoder.set_raw("safety_identifier", user.raw());
        }
        UpstreamApi::Responses => {
            decoder.leave_out("metadata.user_id", "the Responses API takes at most 64 characters");
        }
    }
    Ok(())
}

fn service_tier(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let Some(tier) = request.present("service_tier") else { return Ok(()) };
    match &*tier.text()? {
        "auto" => decoder.set_text("service_tier", "auto"),
        "standard_only" => decoder.set_text("service_tier", "default"),
        _ => return Err(tier.should_be("'auto' or 'standard_only'")),
    }
    Ok(())
}
