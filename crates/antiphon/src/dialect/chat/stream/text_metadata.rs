//! Annotations and log probabilities of a text.

use crate::dialect::chat::fields::{Fields, array};
use crate::json::{Object, objects};

/// Converts an annotation of Chat Completions into raw JSON for the Responses API. The error is the
/// type of an unsupported annotation.
///
/// Sources: OpenAI's search models and OpenRouter nest the fields of a citation under its type:
/// `{"type":"url_citation","url_citation":{"url","title",…}}`. The Responses API has the fields
/// next to the type, and requires all four: a missing index becomes 0, a missing title an empty
/// string.
pub(super) fn convert_annotation(annotation: &Object<'_>) -> Result<String, String> {
    let kind = annotation.string("type").unwrap_or_default();
    if kind != "url_citation" {
        return Err(kind.into_owned());
    }
    let nested = annotation.object("url_citation");
    let source = nested.as_ref().unwrap_or(annotation);
    let mut citation = Object::default();
    citation.set("type", r#""url_citation""#);
    for key in ["start_index", "end_index"] {
        let given = source.get(key).filter(|raw| raw.parse::<u64>().is_ok());
        citation.set(key, given.unwrap_or("0").to_owned());
    }
    for key in ["url", "title"] {
        let given = source.get(key).filter(|raw| raw.starts_with('"'));
        citation.set(key, given.unwrap_or("\"\"").to_owned());
    }
    Ok(citation.to_text())
}

/// Converts the tokens of a choice's `logprobs.content` into a raw list for the Responses API,
/// without its brackets. Empty if there are no tokens.
///
/// Source: the references of both APIs. A token has the same fields in both. The Responses API
/// requires all of them, but Chat Completions servers may omit `bytes` or send null.
pub(super) fn convert_logprobs(logprobs: &Object<'_>) -> String {
    let tokens = objects(logprobs.get("content").unwrap_or_default());
    let tokens: Vec<String> = tokens.iter().filter_map(token).collect();
    tokens.join(",")
}

fn token(token: &Object<'_>) -> Option<String> {
    let others = objects(token.get("top_logprobs").unwrap_or_default());
    let others: Vec<String> =
        others.iter().filter_map(|other| Some(common_fields(other)?.json())).collect();
    Some(common_fields(token)?.raw("top_logprobs", &array(&others)).json())
}

fn common_fields(token: &Object<'_>) -> Option<Fields> {
    let text = token.string("token")?;
    let bytes =
        token.present("bytes").map_or_else(|| format!("{:?}", text.as_bytes()), str::to_owned);
    let mut fields = Fields::new();
    fields.raw("token", token.get("token")?).raw("bytes", &bytes);
    fields.raw("logprob", token.present("logprob")?);
    Some(fields)
}
