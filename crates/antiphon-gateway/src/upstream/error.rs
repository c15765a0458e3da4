//! What goes wrong with an upstream.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

/// An upstream that did not do what it was asked. Everything but a refusal is told as a sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum UpstreamError {
    /// It answered with an error status. Status and body reach the caller as they came.
    #[error("The upstream refused the request with status {}.", .0.status)]
    Refused(Box<Refused>),
    /// No connection.
    #[error("The upstream could not be reached: {0}.")]
    Unreachable(String),
    /// As many answers as it may give at once are open.
    #[error("The upstream is answering as many requests as it may at once. Please retry.")]
    Busy,
    /// Silence.
    #[error("The upstream did not answer within {} seconds.", .0.as_secs())]
    TimedOut(Duration),
    /// The connection ended before the answer did.
    #[error("The upstream's answer broke off before it was complete.")]
    BrokeOff,
    /// The answer is not what a server of its API sends.
    #[error("The upstream answered with something else than a response: {0}.")]
    Garbled(String),
}

/// An error answer of an upstream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refused {
    /// Its status.
    pub(crate) status: StatusCode,
    /// Those of its headers that callers act on.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) body: Bytes,
}

impl UpstreamError {
    /// A refusal by the built-in model, in the form of an upstream's.
    pub(crate) fn invalid(message: &str) -> Self {
        let body = serde_json::json!({"error": {
            "message": message, "type": "invalid_request_error", "param": null, "code": null,
        }});
        let json = http::HeaderValue::from_static("application/json");
        Self::Refused(Box::new(Refused {
            status: StatusCode::BAD_REQUEST,
            headers: [(http::header::CONTENT_TYPE, json)].into_iter().collect(),
            body: body.to_string().into(),
        }))
    }

    /// Whether a server of Chat Completions refused calls without the reasoning that they were made
    /// with, in the words of DeepSeek or Moonshot.
    pub(crate) fn wants_reasoning(&self) -> bool {
        let Self::Refused(refused) = self else { return false };
        let body = String::from_utf8_lossy(&refused.body);
        refused.status == StatusCode::BAD_REQUEST
            && body.contains("reasoning_content")
            && ["passed back", "issing"].iter().any(|words| body.contains(words))
    }

    /// Whether a model without reasoning refused to be asked for encrypted reasoning.
    pub(crate) fn refuses_encryption(&self) -> bool {
        let Self::Refused(refused) = self else { return false };
        let Ok(body) = serde_json::from_slice::<serde_json::Value>(&refused.body) else {
            return false;
        };
        let error = &body["error"];
        let message = error["message"].as_str().unwrap_or_default();
        refused.status == StatusCode::BAD_REQUEST
            && error["param"] == "include"
            && message.contains("ncrypted content is not supported")
    }
}
