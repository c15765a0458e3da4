//! Decodes a client's request of the Messages API: converts it into one of the Responses API.
//!
//! - [`shape`]: the errors for a request that Anthropic would reject too, in its own texts.
//! - [`tools`], [`reasoning`], [`options`]: the fields, the inverse of the encoder's modules.
//! - [`caching`]: the marks of `cache_control` in messages.
//! - [`faults`]: the faults of messages that items do not show.
//! - [`refusal`]: the errors for faults that items show.
//!
//! | field | field of the Responses API |
//! |---|---|
//! | `messages` | `input` |
//! | `system` | `instructions`: the texts, joined by empty lines |
//! | `max_tokens` | `max_output_tokens`, at least 16 |
//! | `tools`, `tool_choice` | `tools`, `tool_choice`, `parallel_tool_calls` |
//! | `thinking`, `output_config.effort` | `reasoning` |
//! | `output_config.format`, `output_format` | `text.format` |
//! | `metadata.user_id` | `safety_identifier`, or `user` for other APIs |
//! | `service_tier` | `service_tier`; `standard_only` is `default` |
//! | `stop_sequences` | `stop`, for Chat Completions |
//! | `temperature`, `top_p` | the same; 1, the default, is left out for other upstreams |
//! | `stream` | the same |
//!
//! For an Anthropic upstream, `thinking`, `output_config` and each field that the Responses API
//! does not have stay unchanged, because the encoder sends them as they are. For other upstreams,
//! the rest is left out and reported, except `cache_control`.

mod caching;
pub(super) mod faults;
mod field;
mod options;
mod reasoning;
pub(super) mod refusal;
mod shape;
#[cfg(test)]
mod tests;
mod tools;

use self::field::Fields;
use super::history::parse_items;
use crate::dialect::request_decoder::RequestDecoder;
use crate::dialect::{DecodedRequest, InvalidRequest, UpstreamApi};
use crate::item::Item;
use crate::json::Object;
use crate::transcript::Origin;

/// The reasoning of an answer comes back only sealed, so that its client can return it.
const INCLUDE: &str = r#"["reasoning.encrypted_content"]"#;

/// Converts the request. See [`ClientApi::decode_request`](crate::dialect::ClientApi).
pub(in crate::dialect) fn decode_request(
    request: &Object<'_>,
    upstream: UpstreamApi,
    origin: &Origin,
) -> Result<DecodedRequest, InvalidRequest> {
    options::check_max_tokens(&Fields::root(request))?;
    decode_count_request(request, upstream, origin)
}

/// Converts a request of `POST /v1/messages/count_tokens`, which needs no `max_tokens`. See
/// [`ClientApi::decode_request`](crate::dialect::ClientApi::decode_request).
pub fn decode_count_request(
    request: &Object<'_>,
    upstream: UpstreamApi,
    origin: &Origin,
) -> Result<DecodedRequest, InvalidRequest> {
    let fields = Fields::root(request);
    let mut decoder = RequestDecoder::new(upstream);
    fields.required("model")?.text()?;
    shape::check_messages(&fields, &mut decoder)?;
    let items = items(&fields, upstream, origin, &mut decoder)?;
    decoder.set_raw("model", request.get("model").unwrap_or_default());
    decoder.set_raw("include", INCLUDE);
    options::decode(&fields, &mut decoder)?;
    tools::decode(&fields, &mut decoder)?;
    reasoning::decode(&fields, &mut decoder)?;
    caching::decode(&fields, &mut decoder);
    other_fields(request, &mut decoder);
    Ok(decoder.finish(items))
}

/// The items of the messages. Blocks of Anthropic's own tools are left out for an upstream of the
/// Responses API, which rejects items of unknown types.
fn items(
    fields: &Fields<'_>,
    upstream: UpstreamApi,
    origin: &Origin,
    decoder: &mut RequestDecoder,
) -> Result<Vec<Item>, InvalidRequest> {
    let messages = fields.required("messages")?;
    let items = parse_items(messages.raw().as_bytes(), None, Some(origin));
    let mut items =
        items.map_err(|error| InvalidRequest::invalid_value("messages", error.to_string()))?;
    if upstream == UpstreamApi::Responses {
        items.retain(|item| {
            let kind = item.head().kind.as_str();
            let is_own = kind.starts_with("anthropic:");
            if is_own {
                decoder.leave_out("messages", &format!("'{kind}' belongs to Anthropic's tools"));
            }
            !is_own
        });
    }
    Ok(items)
}

/// Fields that have no counterpart and that a model can do without. They are not reported, because
/// clients send them in every request.
const SILENT: [&str; 1] = ["cache_control"];

/// The fields that this decoder reads.
const READ: [&str; 16] = [
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
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

/// The fields that nothing else reads: an Anthropic upstream receives them. A field that the
/// Responses API has with another meaning is left out.
fn other_fields(request: &Object<'_>, decoder: &mut RequestDecoder) {
    for (key, raw) in request.iter().filter(|(key, raw)| !READ.contains(key) && *raw != "null") {
        if decoder.is_for(UpstreamApi::Anthropic) && !super::request::is_responses_field(key) {
            decoder.set_raw(key, raw);
        } else if !SILENT.contains(&key) {
            decoder.leave_out(key, "the upstream has no counterpart");
        }
    }
}
