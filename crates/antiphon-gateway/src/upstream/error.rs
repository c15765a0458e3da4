//! What goes wrong with an upstream.

use std::time::Duration;

use antiphon::stream::Failure;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::context_length::{Overflow, TooLong};
use super::retry_after::retry_after;
use crate::error_body::ErrorBody;

/// An upstream that did not do what it was asked. Everything but a refusal is told as a sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum UpstreamError {
    /// It answered with an error status, which reaches the caller, with the body in the form that
    /// callers read.
    #[error("The upstream refused the request with status {}.", .0.status)]
    Refused(Box<Refused>),
    /// No connection.
    #[error("The upstream could not be reached: {0}.")]
    Unreachable(String),
    /// As many answers as it may give at once are open.
    #[error("The upstream is answering as many requests as it may at once. Please retry.")]
    Busy,
    /// No first byte for that long.
    #[error("The upstream did not begin to answer within {0:?}.")]
    Silent(Duration),
    /// No further byte for that long.
    #[error("The upstream's answer stopped: nothing came for {0:?}.")]
    Stalled(Duration),
    /// It was still answering after that long.
    #[error("The upstream's answer was not complete after {0:?}.")]
    Unending(Duration),
    /// The connection ended before the answer did.
    #[error("The upstream's answer broke off before it was complete.")]
    BrokeOff,
    /// The answer is not what a server of its API sends.
    #[error("The upstream answered with something else than a response: {0}.")]
    Garbled(String),
    /// The answer came to more bytes than it may.
    #[error("The upstream's answer is longer than {0} bytes, the bound of max-answer-bytes.")]
    TooLarge(usize),
    /// It answered that the response failed.
    #[error("{}", .0.message)]
    Failed(Failure),
    /// The input is too long for the model, and what can be done about it.
    #[error("{0}")]
    TooLong(TooLong),
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

impl From<antiphon::kept::Garbled> for UpstreamError {
    fn from(garbled: antiphon::kept::Garbled) -> Self {
        Self::Garbled(garbled.0)
    }
}

impl UpstreamError {
    /// A refusal by the built-in model, in the form of an upstream's.
    pub(crate) fn invalid(message: &str) -> Self {
        Self::refusal(StatusCode::BAD_REQUEST, message)
    }

    /// What a provider says of an id that it does not know, without that it was asked.
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

    /// Whether the same request may be answered when it is made again.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::BrokeOff => true,
            Self::Refused(refused) => refused.may_pass(),
            Self::Failed(failure) => PASSING_CODES.contains(&failure.code.as_str()),
            // Who waited that long already has most likely stopped to; a server that sends
            // something else than answers does so again; one that is busy needs no more requests.
            Self::Silent(_)
            | Self::Stalled(_)
            | Self::Unending(_)
            | Self::Garbled(_)
            | Self::TooLarge(_)
            | Self::TooLong(_)
            | Self::Busy => false,
        }
    }

    /// How long the upstream says to wait, at `now` in Unix seconds.
    pub(super) fn told_wait(&self, now: i64) -> Option<Duration> {
        let Self::Refused(refused) = self else { return None };
        retry_after(&refused.headers, now)
    }

    /// The failure of a response that cannot be refused any more.
    pub(crate) fn as_failure(&self) -> Failure {
        match self {
            Self::Failed(failure) => failure.clone(),
            Self::Refused(refused) => refused.as_failure(),
            Self::Busy => Failure { code: "rate_limit_exceeded".into(), message: self.to_string() },
            Self::TooLong(_) => Failure { code: TooLong::CODE.into(), message: self.to_string() },
            _ => Failure::server_error(self.to_string()),
        }
    }

    /// Whether a server of Chat Completions refused calls without the reasoning that they were made
    /// with, in the words of DeepSeek or Moonshot.
    pub(crate) fn wants_reasoning(&self) -> bool {
        self.is_bad_request(|refused| {
            let body = String::from_utf8_lossy(&refused.body);
            body.contains("reasoning_content")
                && ["passed back", "issing"].iter().any(|words| body.contains(words))
        })
    }

    /// What it said where the input is too long for the model.
    pub(crate) fn overflow(&self) -> Option<Overflow> {
        match self {
            Self::Refused(refused) => Overflow::told_by(refused.status, &refused.error()),
            Self::Failed(failure) => Overflow::told(&failure.code, &failure.message),
            _ => None,
        }
    }

    /// Whether a model without reasoning refused to be asked for encrypted reasoning.
    pub(crate) fn refuses_encryption(&self) -> bool {
        self.is_bad_request(|refused| {
            let error = refused.error();
            let message = error["message"].as_str().unwrap_or_default();
            error["param"] == "include" && message.contains("ncrypted content is not supported")
        })
    }

    /// Whether it refused encrypted content: see [`Refused::refuses_reasoning`].
    pub(crate) fn refuses_reasoning(&self) -> bool {
        matches!(self, Self::Refused(refused) if refused.refuses_reasoning())
    }

    /// Whether there is nothing at the path that was asked. A model that there is not is something
    /// else.
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

/// Statuses by which a server says that it did nothing, and may do it next time. 529 is Anthropic's
/// of a server that is overloaded.
const PASSING_STATUSES: [u16; 8] = [408, 409, 429, 500, 502, 503, 504, 529];

/// The same as codes of a response that failed: OpenAI's, then Anthropic's.
const PASSING_CODES: [&str; 6] = [
    "server_error",
    "rate_limit_exceeded",
    "api_error",
    "overloaded_error",
    "rate_limit_error",
    "timeout_error",
];

impl Refused {
    /// The server may say itself whether to ask again, as OpenAI's does.
    fn may_pass(&self) -> bool {
        match self.headers.get("x-should-retry").map(http::HeaderValue::as_bytes) {
            Some(b"true") => true,
            Some(b"false") => false,
            _ => PASSING_STATUSES.contains(&self.status.as_u16()),
        }
    }

    /// Whether it refused encrypted reasoning or a compaction that it made, or that another server of
    /// its kind did: OpenAI with `The encrypted content gAAA...c90= could not be verified.` and the
    /// code `invalid_encrypted_content`, Anthropic with `` Invalid `signature` in `thinking` block ``.
    pub(crate) fn refuses_reasoning(&self) -> bool {
        let error = self.error();
        let message = error["message"].as_str().unwrap_or_default();
        self.status == StatusCode::BAD_REQUEST
            && (error["code"] == "invalid_encrypted_content"
                || message.contains("ncrypted content") && message.contains("could not be")
                || message.contains("Invalid `signature` in `thinking` block")
                || message.contains("Invalid `data` in `redacted_thinking` block"))
    }

    /// Whether it refused to compact a history by itself: it names what it was asked for.
    pub(crate) fn refuses_compaction(&self) -> bool {
        let body = String::from_utf8_lossy(&self.body);
        matches!(self.status.as_u16(), 400 | 422)
            && ["context_management", "compaction_trigger"].iter().any(|name| body.contains(name))
    }

    /// What it says, under `error`; null where it says nothing so.
    pub(super) fn error(&self) -> Value {
        let body = serde_json::from_slice::<Value>(&self.body);
        body.map(|mut body| body["error"].take()).unwrap_or_default()
    }

    pub(crate) fn as_failure(&self) -> Failure {
        let error = self.error();
        // Some servers repeat their status there.
        let is_a_code = |code: &&str| !code.bytes().all(|byte| byte.is_ascii_digit());
        let code = match (error["code"].as_str().filter(is_a_code), self.status) {
            (Some(code), _) => code,
            (None, StatusCode::TOO_MANY_REQUESTS) => "rate_limit_exceeded",
            (None, _) => "server_error",
        };
        let message = error["message"].as_str().map_or_else(
            || format!("The upstream refused the request with status {}.", self.status),
            str::to_owned,
        );
        Failure { code: code.to_owned(), message }
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};
    use serde_json::json;

    use super::*;

    fn refused(status: u16, headers: HeaderMap, body: &Value) -> UpstreamError {
        UpstreamError::Refused(Box::new(Refused {
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            body: body.to_string().into(),
        }))
    }

    #[test]
    fn a_server_decides_by_its_status_and_its_own_word_counts_more() {
        let plain = |status| refused(status, HeaderMap::new(), &json!({})).may_pass();
        for status in PASSING_STATUSES {
            assert!(plain(status), "{status}");
        }
        for status in [400, 401, 403, 404, 413, 422, 501] {
            assert!(!plain(status), "{status}");
        }
        let told = |status, word| {
            let word = HeaderValue::from_static(word);
            let name = http::HeaderName::from_static("x-should-retry");
            refused(status, HeaderMap::from_iter([(name, word)]), &json!({})).may_pass()
        };
        assert!(told(400, "true"));
        assert!(!told(503, "false"));
        assert!(told(503, "perhaps"));
    }

    #[test]
    fn refusals_of_encrypted_reasoning_are_known_by_the_providers_words() {
        let error = |code: &str, message: &str| {
            let body = json!({"error": {"code": code, "message": message}});
            refused(400, HeaderMap::new(), &body).refuses_reasoning()
        };
        let verified = "The encrypted content gAAA...c90= could not be verified.";
        assert!(error("invalid_encrypted_content", ""));
        assert!(error("", verified));
        assert!(error("", "messages.1.content.0: Invalid `signature` in `thinking` block"));
        assert!(!error("", "Encrypted content is not supported with this model."));
        assert!(!error("invalid_value", "Invalid 'input[0].id'."));
    }
}
