//! The errors of requests to an upstream.

use std::borrow::Cow;
use std::time::Duration;

pub(crate) use antiphon::faults::StateError;
use antiphon::provider_api::ServerError;
use antiphon::stream::Failure;
use http::StatusCode;

use super::context_length::{Overflow, TooLong};
use crate::error::ApiError;
use crate::error::ErrorBody;
use crate::error::UpstreamRejection;
use crate::retry::retry_after;

/// A failed request to an upstream. Callers get a rejection in the upstream's words, and every
/// other error as a sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum UpstreamError {
    /// The upstream answered with an error status. The caller receives this status, and the body in
    /// the form of the Responses API.
    #[error("The upstream refused the request with status {}.", .0.status)]
    Rejected(Box<UpstreamRejection>),
    /// The connection could not be opened.
    #[error("The upstream could not be reached: {0}.")]
    Unreachable(String),
    /// The maximum number of open answers is reached.
    #[error("The upstream has as many open requests as its limit allows. Please retry.")]
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
    #[error("The upstream sent an invalid response: {0}.")]
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
        Self::Rejected(Box::new(UpstreamRejection {
            status,
            headers: [(http::header::CONTENT_TYPE, json)].into_iter().collect(),
            body: body.into(),
        }))
    }

    /// The kind of the error for a metric: a word, or the status of a rejection.
    pub(super) fn kind(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Rejected(rejection) => return rejection.status.as_str().to_owned().into(),
            Self::Unreachable(_) => "unreachable",
            Self::Busy => "busy",
            Self::FirstByteTimeout(_) => "first_byte_timeout",
            Self::IdleTimeout(_) => "idle_timeout",
            Self::TotalTimeout(_) => "total_timeout",
            Self::BrokeOff => "broke_off",
            Self::UnexpectedAnswer(_) => "unexpected_answer",
            Self::TooLarge(_) => "too_large",
            Self::Failed(_) => "failed_response",
            Self::TooLong(_) => "too_long",
        })
    }

    /// Whether a retry of the same request may succeed.
    pub(super) fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::BrokeOff => true,
            Self::Rejected(rejection) => rejection.is_retryable(),
            Self::Failed(failure) => RETRYABLE_CODES.contains(&failure.code.as_str()),
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
    pub(super) fn requested_delay(&self, now: i64) -> Option<Duration> {
        let Self::Rejected(rejection) = self else { return None };
        retry_after(&rejection.headers, now)
    }

    /// Converts the error to the failure of a response that has already started.
    pub(crate) fn as_failure(&self) -> Failure {
        match self {
            Self::Failed(failure) => failure.clone(),
            Self::Rejected(rejection) => rejection.as_failure(),
            Self::Busy => Failure { code: "rate_limit_exceeded".into(), message: self.to_string() },
            Self::TooLong(_) => Failure { code: TooLong::CODE.into(), message: self.to_string() },
            _ => Failure::server_error(self.to_string()),
        }
    }

    /// Whether a Chat Completions server rejected tool calls without the reasoning that belongs to
    /// them. Recognizes the error texts of DeepSeek and Moonshot.
    pub(crate) fn requires_reasoning(&self) -> bool {
        self.is_bad_request(|rejection| {
            let body = String::from_utf8_lossy(&rejection.body);
            body.contains("reasoning_content")
                && ["passed back", "issing"].iter().any(|words| body.contains(words))
        })
    }

    /// The overflow, if the input is too long for the model.
    pub(crate) fn overflow(&self) -> Option<Overflow> {
        match self {
            Self::Rejected(rejection) => {
                Overflow::from_rejection(rejection.status, &rejection.error())
            }
            Self::Failed(failure) => Overflow::from_message(&failure.code, &failure.message),
            _ => None,
        }
    }

    /// Whether a model without reasoning rejected the `include` of encrypted reasoning.
    pub(crate) fn rejects_encryption(&self) -> bool {
        self.is_bad_request(|rejection| {
            let error = rejection.error();
            let message = error["message"].as_str().unwrap_or_default();
            error["param"] == "include" && message.contains("ncrypted content is not supported")
        })
    }

    /// Whether the upstream rejected encrypted content: see
    /// [`UpstreamRejection::rejects_reasoning`].
    pub(crate) fn rejects_reasoning(&self) -> bool {
        matches!(self, Self::Rejected(rejection) if rejection.rejects_reasoning())
    }

    /// Whether the server has no such path. A missing model is another error.
    pub(crate) fn has_no_such_path(&self) -> bool {
        matches!(self, Self::Rejected(rejection)
            if matches!(rejection.status.as_u16(), 404 | 405 | 501)
                && rejection.error()["code"] != "model_not_found")
    }

    /// The state error, if the upstream rejected the request for its state or returned a failed
    /// response for that reason.
    pub(crate) fn state_error(&self) -> Option<StateError> {
        match self {
            Self::Rejected(rejection) if rejection.status.is_client_error() => {
                ServerError::parse(&rejection.body).state_error()
            }
            Self::Failed(failure) => StateError::recognize(&failure.code, &failure.message),
            _ => None,
        }
    }

    /// Whether the server reports that it has no `noun` (`conversation`, `response`, `item`) with
    /// this id. Otherwise the server does not have the path.
    pub(crate) fn is_missing(&self, noun: &str, id: &str) -> bool {
        self.with_status(StatusCode::NOT_FOUND).is_some_and(|error| error.is_missing(noun, id))
    }

    /// Whether the server rejects the format of this id. Such a server has the path.
    pub(crate) fn rejects_id(&self, id: &str) -> bool {
        self.with_status(StatusCode::BAD_REQUEST).is_some_and(|error| error.has_id(id))
    }

    fn with_status(&self, status: StatusCode) -> Option<ServerError> {
        let Self::Rejected(rejection) = self else { return None };
        (rejection.status == status).then(|| ServerError::parse(&rejection.body))
    }

    fn is_bad_request(&self, so: impl Fn(&UpstreamRejection) -> bool) -> bool {
        matches!(self, Self::Rejected(rejection)
            if rejection.status == StatusCode::BAD_REQUEST && so(rejection))
    }
}

impl From<UpstreamError> for ApiError {
    fn from(error: UpstreamError) -> Self {
        let text = error.to_string();
        match error {
            UpstreamError::Rejected(rejection) => Self::Upstream(rejection),
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
const RETRYABLE_CODES: [&str; 6] = [
    "server_error",
    "rate_limit_exceeded",
    "api_error",
    "overloaded_error",
    "rate_limit_error",
    "timeout_error",
];

#[cfg(test)]
mod tests;
