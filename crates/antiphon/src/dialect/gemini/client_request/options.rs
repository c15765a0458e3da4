//! The fields other than contents and tools.

use super::RequestDecoder;
use super::field::{Field, Fields, invalid};
use super::schema::to_json_schema;
use crate::dialect::effort::effort_of_budget;
use crate::dialect::{InvalidRequest, UpstreamApi};
use crate::json::Object;

/// The values of the sampling fields that Google's models list as their defaults. Google's clients
/// send them in every request, and some models of other upstreams reject the fields.
const DEFAULTS: [(&str, f64); 3] = [("temperature", 1.0), ("topP", 0.95), ("topK", 64.0)];

/// The fields of `generationConfig` that these functions read.
const READ: [&str; 14] = [
    "candidateCount",
    "frequencyPenalty",
    "maxOutputTokens",
    "presencePenalty",
    "responseJsonSchema",
    "responseMimeType",
    "responseModalities",
    "responseSchema",
    "seed",
    "stopSequences",
    "temperature",
    "thinkingConfig",
    "topK",
    "topP",
];

pub(super) fn decode(
    request: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    instructions(request, decoder)?;
    if let Some(cached) = request.present("cachedContent") {
        return Err(invalid(cached.path(), "the upstream has no cached contents"));
    }
    let Some(config) = request.object_at("generationConfig")? else { return Ok(()) };
    check_answer(&config)?;
    max_tokens(&config, decoder)?;
    sampling(&config, decoder)?;
    stop_sequences(&config, decoder)?;
    thinking(&config, decoder)?;
    format(&config, decoder)?;
    for (key, _) in config.iter().filter(|(key, _)| !READ.contains(&&**key)) {
        decoder.leave_out(&config.path_of(&key), "the upstream has no counterpart");
    }
    Ok(())
}

/// The texts of the instruction, joined by empty lines.
fn instructions(request: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let Some(instruction) = request.object_at("systemInstruction")? else { return Ok(()) };
    let mut texts = Vec::new();
    for part in instruction.array_at("parts")? {
        texts.push(part.object()?.required("text")?.text()?);
    }
    texts.retain(|text| !text.trim().is_empty());
    if !texts.is_empty() {
        decoder.set_text("instructions", &texts.join("\n\n"));
    }
    Ok(())
}

/// Rejects a request for several answers, or for media, which a response cannot hold.
fn check_answer(config: &Fields<'_>) -> Result<(), InvalidRequest> {
    if let Some(count) = config.present("candidateCount").filter(|count| count.raw() != "1") {
        count.integer()?;
        return Err(invalid(count.path(), "only one candidate can be specified"));
    }
    for modality in config.array_at("responseModalities")? {
        if modality.text()? != "TEXT" {
            return Err(invalid(modality.path(), "the upstream answers only with TEXT"));
        }
    }
    Ok(())
}

fn max_tokens(config: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let Some(field) = config.present("maxOutputTokens") else { return Ok(()) };
    let number = field.integer()?;
    if number < 1 {
        return Err(invalid(field.path(), "max_output_tokens must be positive."));
    }
    decoder.limit_output(field.path(), number.unsigned_abs());
    Ok(())
}

fn sampling(config: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    for (name, default) in DEFAULTS {
        let Some(field) = config.present(name) else { continue };
        let is_default = (field.number()? - default).abs() < f64::EPSILON;
        match name {
            _ if is_default => {}
            "temperature" => decoder.set_raw("temperature", field.raw()),
            "topP" => decoder.set_raw("top_p", field.raw()),
            _ if decoder.upstream == UpstreamApi::Anthropic => {
                decoder.set_raw("top_k", field.raw());
            }
            _ => decoder.leave_out(field.path(), "the upstream has no counterpart"),
        }
    }
    for (name, own) in [
        ("presencePenalty", "presence_penalty"),
        ("frequencyPenalty", "frequency_penalty"),
        ("seed", "seed"),
    ] {
        let Some(field) = config.present(name) else { continue };
        field.number()?;
        match decoder.upstream {
            UpstreamApi::Chat => decoder.set_raw(own, field.raw()),
            UpstreamApi::Responses | UpstreamApi::Anthropic => {
                decoder.leave_out(field.path(), "the upstream has no counterpart");
            }
        }
    }
    Ok(())
}

fn stop_sequences(config: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let Some(sequences) = config.present("stopSequences") else { return Ok(()) };
    let list = sequences.array()?;
    list.iter().try_for_each(|sequence| sequence.text().map(drop))?;
    let raws: Vec<&str> = list.iter().map(Field::raw).collect();
    let raw = format!("[{}]", raws.join(","));
    match decoder.upstream {
        _ if list.is_empty() => {}
        UpstreamApi::Anthropic => decoder.set_raw("stop_sequences", raw),
        UpstreamApi::Chat => decoder.set_raw("stop", raw),
        UpstreamApi::Responses => {
            decoder.leave_out(sequences.path(), "the Responses API has no counterpart");
        }
    }
    Ok(())
}

/// Decodes how much the model thinks.
///
/// | `thinkingConfig` | `reasoning` |
/// |---|---|
/// | `thinkingLevel` | the effort of the same name |
/// | `thinkingBudget` of 0 | effort `none` |
/// | a positive `thinkingBudget` | the effort nearest to the budget |
/// | `includeThoughts` | a summary, which Chat Completions does not have |
fn thinking(config: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let Some(thinking) = config.object_at("thinkingConfig")? else { return Ok(()) };
    let mut reasoning = Object::default();
    if let Some(effort) = effort(&thinking)? {
        reasoning.set_string("effort", effort);
    }
    if thinking.is_true("includeThoughts") && decoder.upstream != UpstreamApi::Chat {
        reasoning.set_string("summary", "auto");
    }
    if reasoning.iter().next().is_some() {
        decoder.set_raw("reasoning", reasoning.to_text());
    }
    Ok(())
}

fn effort(thinking: &Fields<'_>) -> Result<Option<&'static str>, InvalidRequest> {
    if let Some(level) = thinking.present("thinkingLevel") {
        return Ok(match &*level.text()?.to_ascii_uppercase() {
            "THINKING_LEVEL_UNSPECIFIED" => None,
            "MINIMAL" => Some("minimal"),
            "LOW" => Some("low"),
            "MEDIUM" => Some("medium"),
            "HIGH" => Some("high"),
            _ => {
                let sentence = "it is none of MINIMAL, LOW, MEDIUM and HIGH";
                return Err(invalid(level.path(), sentence));
            }
        });
    }
    let Some(budget) = thinking.present("thinkingBudget") else { return Ok(None) };
    Ok(match budget.integer()? {
        0 => Some("none"),
        budget => u64::try_from(budget).ok().map(effort_of_budget),
    })
}

/// The JSON format of the answer.
fn format(config: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let kind = config.present("responseMimeType");
    let schema = config.present("responseJsonSchema");
    let schema = schema.or_else(|| config.present("responseSchema"));
    match kind.as_ref().map(Field::text).transpose()?.as_deref() {
        None | Some("" | "text/plain") => return Ok(()),
        Some("application/json") => {}
        Some(_) => {
            let path = config.path_of("responseMimeType");
            decoder.leave_out(&path, "the upstream answers with text or JSON");
            return Ok(());
        }
    }
    let format = match schema {
        None => r#"{"type":"json_object"}"#.to_owned(),
        Some(schema) => {
            schema.object()?;
            let schema = to_json_schema(schema.raw());
            format!(r#"{{"type":"json_schema","name":"output","strict":false,"schema":{schema}}}"#)
        }
    };
    decoder.set_raw("text", format!(r#"{{"format":{format}}}"#));
    Ok(())
}
