//! Decodes a client's request of the Gemini API: converts it into one of the Responses API.
//!
//! - [`contents`], [`calls`], [`media`]: the contents, and the ids of calls.
//! - [`tools`], [`schema`], [`options`]: the other fields.
//!
//! | field | field of the Responses API |
//! |---|---|
//! | `contents` | `input` |
//! | `systemInstruction` | `instructions`: the texts, joined by empty lines |
//! | `tools`, `toolConfig` | `tools`, `tool_choice` |
//! | `generationConfig.maxOutputTokens` | `max_output_tokens`, at least 16 |
//! | `generationConfig.thinkingConfig` | `reasoning` |
//! | `generationConfig.responseMimeType` and its schemas | `text.format` |
//! | `generationConfig.temperature`, `topP` | the same; Google's defaults are left out |
//! | `generationConfig.stopSequences` | `stop` or `stop_sequences`, for the APIs that have them |
//!
//! The model and the form of the answer are in the path of such a request. The server adds them as
//! the fields `model` and `stream`. Everything else is left out and reported.

mod calls;
mod contents;
mod field;
mod media;
mod options;
mod refusal;
mod schema;
#[cfg(test)]
mod tests;
mod tools;

use self::field::Fields;
pub(in crate::dialect) use self::refusal::reword;
use crate::dialect::request_decoder::RequestDecoder;
use crate::dialect::{DecodedRequest, InvalidRequest, UpstreamApi};
use crate::json::Object;
use crate::transcript::Origin;

/// The reasoning of an answer comes back only sealed, so that its client can return it.
const INCLUDE: &str = r#"["reasoning.encrypted_content"]"#;

/// The fields that this decoder reads.
const READ: [&str; 8] = [
    "cachedContent",
    "contents",
    "generationConfig",
    "model",
    "stream",
    "systemInstruction",
    "toolConfig",
    "tools",
];

/// Converts the request. See [`ClientApi::decode_request`](crate::dialect::ClientApi).
pub(in crate::dialect) fn decode_request(
    request: &Object<'_>,
    upstream: UpstreamApi,
    origin: &Origin,
) -> Result<DecodedRequest, InvalidRequest> {
    let fields = Fields::root(request);
    let mut decoder = RequestDecoder::new(upstream);
    let model = fields.required("model")?.text()?;
    decoder.set_text("model", &model);
    decoder.set_raw("include", INCLUDE);
    decoder.set_raw("stream", fields.is_true("stream").to_string());
    let (items, derived_call_ids) = contents::items(&fields, origin, &mut decoder)?;
    options::decode(&fields, &mut decoder)?;
    tools::decode(&fields, &mut decoder)?;
    for (key, _) in fields.iter().filter(|(key, _)| !READ.contains(&&**key)) {
        decoder.leave_out(&key, "the upstream has no counterpart");
    }
    Ok(DecodedRequest { derived_call_ids, ..decoder.finish(items) })
}

/// Converts a request of `countTokens`, which has the contents, or a whole request in the field
/// `generateContentRequest`. See
/// [`ClientApi::decode_request`](crate::dialect::ClientApi::decode_request).
pub fn decode_count_request(
    request: &Object<'_>,
    upstream: UpstreamApi,
    origin: &Origin,
) -> Result<DecodedRequest, InvalidRequest> {
    let fields = Fields::root(request);
    let Some(whole) = fields.present("generateContentRequest") else {
        return decode_request(request, upstream, origin);
    };
    whole.object()?;
    let mut whole = Object::parse_str(whole.raw()).unwrap_or_default();
    whole.set("model", request.present("model").unwrap_or("null").to_owned());
    decode_request(&whole, upstream, origin)
}
