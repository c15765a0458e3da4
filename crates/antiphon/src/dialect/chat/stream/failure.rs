//! Errors in a stream.

use std::borrow::Cow;

use super::left_out::is_empty;
use crate::json::{Object, unquote};
use crate::stream::Failure;

/// The failure in a chunk, a choice or a whole body, if there is one.
///
/// Servers write it as `{"error":{"message","type","code"}}`, as `{"error":"…"}` (Ollama), or bare,
/// as `{"object":"error","message",…}` (vLLM).
pub(super) fn parse(holder: &Object<'_>) -> Option<Failure> {
    if holder.string("object").as_deref() == Some("error") {
        return Some(from_object(holder));
    }
    let raw = holder.get("error").filter(|raw| !is_empty(raw))?;
    match Object::parse(raw.as_bytes()) {
        Ok(error) => Some(from_object(&error)),
        Err(_) => Some(Failure::server_error(message(unquote(raw)))),
    }
}

/// The code is the error's `code`, or its `type` if it has no code. OpenRouter, llama.cpp and vLLM
/// send an HTTP status as the code: it is replaced by the Responses API's code for such an error,
/// if there is one.
fn from_object(error: &Object<'_>) -> Failure {
    let name = |key| error.string(key).filter(|name| !name.is_empty());
    let status = error.get("code").map(|raw| raw.trim_matches('"')).filter(|raw| is_number(raw));
    let code = match status {
        Some(status) => code_for_status(status)
            .map(Cow::Borrowed)
            .or_else(|| name("type"))
            .or(Some(status.into())),
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

fn code_for_status(status: &str) -> Option<&'static str> {
    match status {
        "429" => Some("rate_limit_exceeded"),
        _ => status.starts_with('5').then_some("server_error"),
    }
}

fn message(reported: Option<Cow<'_, str>>) -> String {
    let reported = reported.filter(|message| !message.is_empty());
    let default = || "The upstream failed without an error message.".into();
    reported.map_or_else(default, Cow::into_owned)
}
