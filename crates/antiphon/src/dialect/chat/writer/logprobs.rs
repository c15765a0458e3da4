//! Log probabilities of tokens.

use crate::dialect::chat::fields::{Fields, array};
use crate::json::{Object, objects};

/// The `logprobs` of an event or a part, in the form of Chat Completions: raw objects, separated by
/// commas. Both APIs have the same fields; events of the Responses API lack `bytes`.
pub(super) fn logprobs(holder: &Object<'_>) -> String {
    let tokens = holder.objects("logprobs");
    tokens.iter().filter_map(token).collect::<Vec<_>>().join(",")
}

fn token(token: &Object<'_>) -> Option<String> {
    let alternatives = objects(token.get("top_logprobs").unwrap_or("[]"));
    let alternatives: Vec<String> =
        alternatives.iter().filter_map(|other| Some(token_fields(other)?.json())).collect();
    Some(token_fields(token)?.raw("top_logprobs", &array(&alternatives)).json())
}

fn token_fields(token: &Object<'_>) -> Option<Fields> {
    let text = token.string("token")?;
    let bytes = token.present("bytes").filter(|bytes| *bytes != "[]");
    let bytes = bytes.map_or_else(|| format!("{:?}", text.as_bytes()), str::to_owned);
    let mut fields = Fields::new();
    fields.raw("token", token.get("token")?).raw("logprob", token.present("logprob")?);
    fields.raw("bytes", &bytes);
    Some(fields)
}
