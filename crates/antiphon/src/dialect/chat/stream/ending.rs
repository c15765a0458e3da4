//! The end of an answer: its reason, its failure, its token counts.

use std::borrow::Cow;

use super::answer::is_empty;
use crate::dialect::usage::Usage;
use crate::json::{Object, unquote};
use crate::stream::Failure;

/// The end of an answer, by its `finish_reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// The answer is complete: `stop`, `tool_calls`, `function_call`, and other names for such an
    /// end (`eos`).
    Completed,
    /// A limit or a filter ended the answer. Holds the reason for `incomplete_details`.
    Incomplete(&'static str),
    /// The stream ended normally, but the server did not send a reason.
    Unstated,
    /// The upstream failed. Holds the server's reason.
    Failed(String),
}

impl Finish {
    /// Parses a `finish_reason`. `None` if it is empty, which means that the answer continues.
    ///
    /// Sources: OpenAI for the first two; vLLM and SGLang send `abort`, OpenRouter and vLLM
    /// `error`, DeepSeek `insufficient_system_resource`.
    pub(super) fn parse(finish_reason: &str) -> Option<Self> {
        match finish_reason {
            "" => None,
            "length" => Some(Self::Incomplete("max_output_tokens")),
            "content_filter" => Some(Self::Incomplete("content_filter")),
            "abort" | "error" | "insufficient_system_resource" => {
                Some(Self::Failed(finish_reason.to_owned()))
            }
            _ => Some(Self::Completed),
        }
    }
}

/// The failure in a chunk, a choice or a whole body, if there is one.
///
/// Servers write it as `{"error":{"message","type","code"}}`, as `{"error":"…"}` (Ollama), or bare,
/// as `{"object":"error","message",…}` (vLLM).
pub(super) fn parse_failure(holder: &Object<'_>) -> Option<Failure> {
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

/// Parses the counts in `raw`; `None` if it is not an object, or empty.
///
/// Servers that report usage in every chunk (`continuous_usage_stats`) send totals: the last one
/// counts.
pub(super) fn parse_usage(raw: Option<&str>) -> Option<Usage> {
    let usage = Object::parse(raw?.as_bytes()).ok()?;
    usage.iter().next()?;
    let (input, output) = (count(&usage, "prompt_tokens"), count(&usage, "completion_tokens"));
    let cached = detail(&usage, "prompt_tokens_details", "cached_tokens");
    let reasoning = detail(&usage, "completion_tokens_details", "reasoning_tokens");
    let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
    Some(Usage {
        input,
        // DeepSeek has its own field for cached tokens.
        cached: cached.or_else(|| count(&usage, "prompt_cache_hit_tokens")).unwrap_or(0),
        written: detail(&usage, "prompt_tokens_details", "cache_write_tokens").unwrap_or(0),
        output,
        // SGLang has its own field for reasoning tokens.
        reasoning: reasoning.or_else(|| count(&usage, "reasoning_tokens")).unwrap_or(0),
        total: count(&usage, "total_tokens"),
    })
}

fn count(usage: &Object<'_>, key: &str) -> Option<u64> {
    usage.get(key)?.parse().ok()
}

fn detail(usage: &Object<'_>, list: &str, key: &str) -> Option<u64> {
    count(&usage.object(list)?, key)
}
