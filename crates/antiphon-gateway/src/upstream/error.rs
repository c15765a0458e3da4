//! The errors of requests to an upstream.

use std::time::Duration;

use antiphon::stream::Failure;
use http::StatusCode;

use super::context_length::{Overflow, TooLong};
use super::retry_after::retry_after;
use crate::error::ApiError;
use crate::error_body::ErrorBody;
use crate::refused::Refused;

/// A failed request to an upstream. Callers get a rejection in the upstream's words, and every
/// other error as a sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum UpstreamError {
    /// The upstream answered with an error status. The caller receives this status, and the body in
    /// the form of the Responses API.
    #[error("The upstream refused the request with status {}.", .0.status)]
    Refused(Box<Refused>),
    /// The connection could not be opened.
    #[error("The upstream could not be reached: {0}.")]
    Unreachable(String),
    /// The maximum number of open answers is reached.
    #[error("The upstream is answering as many requests as it may at once. Please retry.")]
    Busy,
    /// No first byte arrived within this time.
    #[error("The upstream did not begin to answer within {0:?}.")]
    FirstByteTimeout(Duration),
    /// No further byte arrived within this time.
    #[error("The upstream's answer stopped: nothing came for {0:?}.")]
    IdleTimeout(Duration),
    /// The answer was not complete after this time.
    #[error("The upstream's answer was not complete after {0:?}.")]
    TotalTimeout(Duration),
    /// The connection closed before the end of the answer.
    #[error("The upstream's answer broke off before it was complete.")]
    BrokeOff,
    /// The answer does not follow the server's API.
    #[error("The upstream answered with something else than a response: {0}.")]
    UnexpectedAnswer(String),
    /// The answer exceeds this number of bytes.
    #[error("The upstream's answer is longer than {0} bytes, the bound of max-answer-bytes.")]
    TooLarge(usize),
    /// The upstream returned a failed response.
    #[error("{}", .0.message)]
    Failed(Failure),
    /// The input is too long for the model.
    #[error("{0}")]
    TooLong(TooLong),
}

impl From<antiphon::provider_api::UnexpectedAnswer> for UpstreamError {
    fn from(garbled: antiphon::provider_api::UnexpectedAnswer) -> Self {
        Self::UnexpectedAnswer(garbled.0)
    }
}

impl UpstreamError {
    /// An invalid request to the built-in model, in the form of an upstream's rejection.
    pub(crate) fn invalid(message: &str) -> Self {
        Self::refusal(StatusCode::BAD_REQUEST, message)
    }

    /// The provider's error for an unknown id, without a request to the provider.
    pub(crate) fn not_found(message: &str) -> Self {
        Self::refusal(StatusCode::NOT_FOUND, message)
    }

    fn refusal(status: StatusCode, message: &str) -> Self {
        let kind = "invalid_request_error";
        let body = ErrorBody { message, kind, param: None, code: None }.to_json();
        let json = http::HeaderValue::from_static("application/json");
        Self::Refused(Box::new(Refused {
            status,
            headers: [(http::header::CONTENT_TYPE, json)].into_iter().collect(),
            body: body.into(),
        }))
    }

    /// Whether a retry of the same request may succeed.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::BrokeOff => true,
            Self::Refused(refused) => refused.may_pass(),
            Self::Failed(failure) => PASSING_CODES.contains(&failure.code.as_str()),
            // After such a wait, the client has most likely disconnected. A server with malformed
            // answers will send them again. A busy server must not receive more requests.
            Self::FirstByteTimeout(_)
            | Self::IdleTimeout(_)
            | Self::TotalTimeout(_)
            | Self::UnexpectedAnswer(_)
            | Self::TooLarge(_)
            | Self::TooLong(_)
            | Self::Busy => false,
        }
    }

    /// The delay that the upstream requests, at `now` in Unix seconds.
    pub(super) fn told_wait(&self, now: i64) -> Option<Duration> {
        let Self::Refused(refused) = self else { return None };
        retry_after(&refused.headers, now)
    }

    /// Converts the error to the failure of a response that has already started.
    pub(crate) fn as_failure(&self) -> Failure {
        match self {
            Self::Failed(failure) => failure.clone(),
            Self::Refused(refused) => refused.as_failure(),
            Self::Busy => Failure { code: "rate_limit_exceeded".into(), message: self.to_string() },
            Self::TooLong(_) => Failure { code: TooLong::CODE.into(), message: self.to_string() },
            _ => Failure::server_error(self.to_string()),
        }
    }

    /// Whether a Chat Completions server rejected tool calls without the reasoning that belongs to
    /// them. Recognizes the error texts of DeepSeek and Moonshot.
    pub(crate) fn wants_reasoning(&self) -> bool {
        self.is_bad_request(|refused| {
            let body = String::from_utf8_lossy(&refused.body);
            body.contains("reasoning_content")
                && ["passed back", "issing"].iter().any(|words| body.contains(words))
        })
    }

    /// The overflow, if the input is too long for the model.
    pub(crate) fn overflow(&self) -> Option<Overflow> {
        match self {
            Self::Refused(refused) => Overflow::told_by(refused.status, &refused.error()),
            Self::Failed(failure) => Overflow::told(&failure.code, &failure.message),
            _ => None,
        }
    }

    /// Whether a model without reasoning rejected the `include` of encrypted reasoning.
    pub(crate) fn refuses_encryption(&self) -> bool {
        self.is_bad_request(|refused| {
            let error = refused.error();
            let message = error["message"].as_str().unwrap_or_default();
            error["param"] == "include" && message.contains("ncrypted content is not supported")
        })
    }

    /// Whether the upstream rejected encrypted content: see [`Refused::refuses_reasoning`].
    pub(crate) fn refuses_reasoning(&self) -> bool {
        matches!(self, Self::Refused(refused) if refused.refuses_reasoning())
    }

    /// Whether the server has no such path. A missing model is another error.
    pub(crate) fn tells_of_no_such_path(&self) -> bool {
        matches!(self, Self::Refused(refused)
            if matches!(refused.status.as_u16(), 404 | 405 | 501)
                && refused.error()["code"] != "model_not_found")
    }

    fn is_bad_request(&self, so: impl Fn(&Refused) -> bool) -> bool {
        matches!(self, Self::Refused(refused)
            if refused.status == StatusCode::BAD_REQUEST && so(refused))
    }
}

impl From<UpstreamError> for ApiError {
    fn from(error: UpstreamError) -> Self {
        let text = error.to_string();
        match error {
            UpstreamError::Refused(refused) => Self::Upstream(refused),
            UpstreamError::Busy => Self::UpstreamBusy { reason: text },
            UpstreamError::TooLong(_) => Self::InputTooLong { code: TooLong::CODE, message: text },
            UpstreamError::FirstByteTimeout(_)
            | UpstreamError::IdleTimeout(_)
            | UpstreamError::TotalTimeout(_) => Self::UpstreamTimeout { reason: text },
            _ => Self::UpstreamFailed { reason: text },
        }
    }
}

/// Codes of failed responses that permit a retry: OpenAI's, then Anthropic's.
const PASSING_CODES: [&str; 6] = [
    "server_error",
    "rate_limit_exceeded",
    "api_error",
    "overloaded_error",
    "rate_limit_error",
    "timeout_error",
];
