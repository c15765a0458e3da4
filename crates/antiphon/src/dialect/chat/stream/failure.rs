//! Errors in the midst of a stream.

use std::borrow::Cow;

use super::left_out::is_empty;
use crate::json::{Object, unquote};
use crate::stream::Failure;

/// The failure that a chunk, a choice or a whole body reports, if any.
///
/// Servers write it as `{"error":{"message","type","code"}}`, as `{"error":"…"}` (Ollama), or bare,
/// as `{"object":"error","message",…}` (vLLM).
pub(super) fn reported(holder: &Object<'_>) -> Option<Failure> {
    if holder.string("object").as_deref() == Some("error") {
        return Some(described(holder));
    }
    let raw = holder.get("error").filter(|raw| !is_empty(raw))?;
    match Object::parse(raw.as_bytes()) {
        Ok(error) => Some(described(&error)),
        Err(_) => Some(Failure::server_error(message(unquote(raw)))),
    }
}

/// The code is a name, or the type where there is none. OpenRouter, llama.cpp and vLLM have the
/// number of an HTTP status for a code: the Responses API's own name of such an error stands for it,
/// where it has one.
fn described(error: &Object<'_>) -> Failure {
    let name = |key| error.string(key).filter(|name| !name.is_empty());
    let status = error.get("code").map(|raw| raw.trim_matches('"')).filter(|raw| is_number(raw));
    let code = match status {
        Some(status) => {
            name_of(status).map(Cow::Borrowed).or_else(|| name("type")).or(Some(status.into()))
        }
        None => name("code").or_else(|| name("type")),
    };
    Failure {
        code: code.map_or_else(|| "server_error".into(), Cow::into_owned),
        message: message(error.string("message")),
    }
}

fn is_number(raw: &str) -> bool {
    !raw.is_empty() && raw.bytes().all(|byte| byte.is_ascii_digit())
}

fn name_of(status: &str) -> Option<&'static str> {
    match status {
        "429" => Some("rate_limit_exceeded"),
        _ => status.starts_with('5').then_some("server_error"),
    }
}

fn message(reported: Option<Cow<'_, str>>) -> String {
    let reported = reported.filter(|message| !message.is_empty());
    reported.map_or_else(|| "The upstream failed without saying why.".into(), Cow::into_owned)
}
