//! Log probabilities of a text.
//!
//! Source: the references of both APIs. A token has the same fields in both. The Responses API
//! requires all of them, but Chat Completions servers may omit `bytes` or send null.

use crate::dialect::chat::fields::{Fields, array};
use crate::json::{Object, objects};

/// Converts the tokens of a choice's `logprobs.content` into a raw list for the Responses API,
/// without its brackets. Empty if there are no tokens.
pub(super) fn in_responses_form(logprobs: &Object<'_>) -> String {
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
