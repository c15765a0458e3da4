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

/// The code is a name or, with OpenRouter, llama.cpp and vLLM, the number of an HTTP status; where
/// there is none the error's type stands for it.
fn described(error: &Object<'_>) -> Failure {
    let number = |raw: &&str| raw.bytes().all(|byte| byte.is_ascii_digit());
    let name = |key| error.string(key).filter(|name| !name.is_empty()).map(Cow::into_owned);
    let code = name("code").or_else(|| error.get("code").filter(number).map(str::to_owned));
    let code = code.or_else(|| name("type"));
    Failure {
        code: code.unwrap_or_else(|| "server_error".into()),
        message: message(error.string("message")),
    }
}

fn message(reported: Option<Cow<'_, str>>) -> String {
    let reported = reported.filter(|message| !message.is_empty());
    reported.map_or_else(|| "The upstream failed without saying why.".into(), Cow::into_owned)
}
