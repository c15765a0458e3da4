//! The fields other than messages and tools.

use super::field::{Field, Fields};
use super::{RequestDecoder, keep_or_leave_out};
use crate::dialect::chat::fields::Fields as Json;
use crate::dialect::{InvalidRequest, UpstreamApi};
use crate::json::Object;

/// Fields with the same name, type and meaning in both APIs. The Responses API checks their values.
const SAME: [&str; 9] = [
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "service_tier",
];

pub(super) fn decode(
    request: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    check_answer(request)?;
    stream(request, decoder)?;
    max_tokens(request, decoder)?;
    for key in SAME {
        if let Some(field) = request.present(key) {
            decoder.set_raw(key, field.raw());
        }
    }
    text(request, decoder)?;
    if let Some(effort) = request.present("reasoning_effort") {
        let reasoning = Json::new().raw("effort", effort.string()?).json();
        decoder.set_raw("reasoning", reasoning);
    }
    logprobs(request, decoder)?;
    stop(request, decoder)?;
    stored(request, decoder)?;
    for (key, default) in [("seed", ""), ("logit_bias", "{}"), ("prediction", "")] {
        if let Some(field) = request.present(key).filter(|field| field.raw() != default) {
            keep_or_leave_out(key, field.raw(), decoder);
        }
    }
    Ok(())
}

/// Rejects a request for several answers or for audio, which a response cannot hold.
fn check_answer(request: &Fields<'_>) -> Result<(), InvalidRequest> {
    if let Some(field) = request.present("n") {
        let count = field.integer_from(1)?;
        if count > 1 {
            return Err(field.invalid(&format!(
                "integer above maximum value. Expected a value <= 1, but got {count} instead."
            )));
        }
    }
    if let Some(modalities) = request.present("modalities") {
        for modality in modalities.array("an array of strings")? {
            modality.one_of(&["text"])?;
        }
    }
    match request.present("audio") {
        Some(audio) => Err(audio.invalid("answers have only text.")),
        None => Ok(()),
    }
}

fn stream(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let stream = request.present("stream");
    let is_stream = stream.map_or(Ok(false), |stream| stream.boolean())?;
    decoder.set_raw("stream", is_stream.to_string());
    let Some(options) = request.present("stream_options") else { return Ok(()) };
    let options = options.object()?;
    if let Some(include) = options.present("include_usage") {
        include.boolean()?;
    }
    if is_stream {
        return Ok(());
    }
    let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    Err(InvalidRequest::invalid_value("stream_options", message))
}

/// The limit of the output. An upstream of Chat Completions receives a field that its server may
/// know alone, and a limit that the Responses API does not allow.
fn max_tokens(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let older = request.present("max_tokens");
    let newer = request.present("max_completion_tokens");
    for field in older.iter().chain(&newer) {
        field.integer_from(1)?;
    }
    if let Some(older) = older.as_ref().filter(|_| decoder.is_for(UpstreamApi::Chat)) {
        decoder.set_raw("max_tokens", older.raw());
    }
    let older = older.filter(|_| !decoder.is_for(UpstreamApi::Chat));
    let Some(field) = newer.or(older) else { return Ok(()) };
    decoder.limit_output(field.path(), field.integer_from(1)?.unsigned_abs());
    Ok(())
}

/// `text`: the format and the verbosity.
fn text(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let mut text = Json::new();
    let format = request.present("response_format").map(|field| format(&field)).transpose()?;
    text.present("format", format.as_deref());
    let verbosity = request.present("verbosity");
    text.present("verbosity", verbosity.as_ref().map(Field::string).transpose()?);
    let text = text.json();
    if text != "{}" {
        decoder.set_raw("text", text);
    }
    Ok(())
}

/// The format in the form of the Responses API, which nests the schema one level less.
fn format(field: &Field<'_>) -> Result<String, InvalidRequest> {
    let format = field.object()?;
    let kind = format.required("type")?.one_of(&["json_object", "json_schema", "text"])?;
    let mut json = Json::with_type(kind);
    if kind == "json_schema" {
        let schema = format.required("json_schema")?.object()?;
        json.all(schema.object().iter().filter(|(key, raw)| *key != "type" && *raw != "null"));
    }
    Ok(json.json())
}

/// `include`: encrypted reasoning, which the client returns, and log probabilities.
fn logprobs(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let has_logprobs = request.present("logprobs").map_or(Ok(false), |field| field.boolean())?;
    let include = match has_logprobs {
        true => r#"["reasoning.encrypted_content","message.output_text.logprobs"]"#,
        false => r#"["reasoning.encrypted_content"]"#,
    };
    decoder.set_raw("include", include);
    let Some(top) = request.present("top_logprobs") else { return Ok(()) };
    top.integer_from(0)?;
    if !has_logprobs {
        let message = "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.";
        return Err(InvalidRequest::invalid_value("top_logprobs", message));
    }
    decoder.set_raw("top_logprobs", top.raw());
    Ok(())
}

/// `stop`: a text or a list of texts.
fn stop(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let Some(stop) = request.present("stop").filter(|stop| stop.raw() != "[]") else {
        return Ok(());
    };
    let is_text = stop.raw().starts_with('"');
    if !is_text {
        stop.array("one of a string or array of strings")?
            .iter()
            .try_for_each(|text| text.string().map(drop))?;
    }
    match decoder.upstream {
        UpstreamApi::Anthropic if is_text => {
            decoder.set_raw("stop_sequences", format!("[{}]", stop.raw()));
        }
        UpstreamApi::Anthropic => decoder.set_raw("stop_sequences", stop.raw()),
        UpstreamApi::Chat | UpstreamApi::Responses => {
            keep_or_leave_out("stop", stop.raw(), decoder);
        }
    }
    Ok(())
}

/// `metadata` and `store`. A conversation in the metadata is for the gateway.
fn stored(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    if let Some(field) = request.present("metadata") {
        let fields = field.object()?;
        fields.present("conversation").map(|id| id.text()).transpose()?;
        let mut metadata: Object<'_> = fields.object().clone();
        metadata.remove("conversation");
        if metadata.iter().next().is_some() {
            decoder.set_raw("metadata", metadata.to_text());
        }
    }
    if let Some(store) = request.present("store").filter(|store| store.raw() != "false") {
        store.boolean()?;
        decoder.leave_out("store", "completions are not stored");
    }
    Ok(())
}
