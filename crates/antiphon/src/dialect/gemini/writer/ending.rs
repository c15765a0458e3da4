//! The end of an answer, its token usage, and errors.

use crate::json::{Object, quote};

/// An error in Google's form.
///
/// Source: Google's documentation of its error model (`google.rpc.Code`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The HTTP status.
    pub code: u16,
    /// The name of the status.
    pub status: &'static str,
}

impl Rejection {
    /// The error for an answer with this HTTP status.
    pub fn from_status(code: u16) -> Self {
        let status = match code {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            409 => "ABORTED",
            429 => "RESOURCE_EXHAUSTED",
            499 => "CANCELLED",
            501 => "UNIMPLEMENTED",
            503 | 529 => "UNAVAILABLE",
            504 => "DEADLINE_EXCEEDED",
            400..=499 => "INVALID_ARGUMENT",
            _ => "INTERNAL",
        };
        Self { code, status }
    }

    /// The error for the `error` of a failed response, by its code.
    pub fn from_error(error: Option<&Object<'_>>) -> Self {
        let code = error.and_then(|error| error.string("code")).unwrap_or_default();
        Self::from_status(match &*code {
            "rate_limit_exceeded" | "rate_limit_error" => 429,
            "invalid_prompt" | "invalid_request_error" => 400,
            "server_is_overloaded" | "overloaded_error" => 503,
            _ => 500,
        })
    }

    /// The body of the error.
    pub fn to_json(self, message: &str) -> String {
        let Self { code, status } = self;
        let message = quote(message);
        format!(r#"{{"error":{{"code":{code},"message":{message},"status":"{status}"}}}}"#)
    }
}

/// The end of a response in Google's terms.
pub(super) enum Outcome {
    /// A candidate with a `finishReason`.
    Finished { reason: &'static str },
    /// An error, as JSON.
    Failed { error: String },
}

impl Outcome {
    /// | response | `finishReason` |
    /// |---|---|
    /// | completed | `STOP`, also with function calls |
    /// | incomplete, `content_filter` | `SAFETY` |
    /// | incomplete otherwise | `MAX_TOKENS` |
    pub(super) fn from_response(response: &Object<'_>) -> Self {
        let reason = match response.string("status").as_deref() {
            Some("completed") => "STOP",
            Some("incomplete") => {
                let details = response.object("incomplete_details").unwrap_or_default();
                match details.string("reason").as_deref() {
                    Some("content_filter") => "SAFETY",
                    _ => "MAX_TOKENS",
                }
            }
            _ => {
                let error = response.object("error");
                let message = error.as_ref().and_then(|error| error.string("message"));
                let message = message.unwrap_or("The response was cancelled.".into());
                return Self::Failed {
                    error: Rejection::from_error(error.as_ref()).to_json(&message),
                };
            }
        };
        Self::Finished { reason }
    }
}

/// The `usageMetadata` of a response. Google counts the reasoning separately from the answer.
pub(super) fn usage_json(usage: &Object<'_>) -> String {
    let count = |object: Option<&Object<'_>>, key| -> u64 {
        object.and_then(|object| object.get(key)?.parse().ok()).unwrap_or(0)
    };
    let input = count(Some(usage), "input_tokens");
    let output = count(Some(usage), "output_tokens");
    let cached = count(usage.object("input_tokens_details").as_ref(), "cached_tokens");
    let thoughts = count(usage.object("output_tokens_details").as_ref(), "reasoning_tokens");
    let total = count(Some(usage), "total_tokens").max(input.saturating_add(output));
    let answer = output.saturating_sub(thoughts);
    let optional = |name: &str, count: u64| match count {
        0 => String::new(),
        count => format!(r#","{name}":{count}"#),
    };
    let cached = optional("cachedContentTokenCount", cached);
    let thoughts = optional("thoughtsTokenCount", thoughts);
    let counts = format!(r#""promptTokenCount":{input},"candidatesTokenCount":{answer}"#);
    format!(r#"{{{counts},"totalTokenCount":{total}{cached}{thoughts}}}"#)
}
