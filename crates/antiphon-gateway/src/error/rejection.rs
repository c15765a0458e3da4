//! The error answer of an upstream.

use antiphon::stream::Failure;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

/// An error answer of an upstream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UpstreamRejection {
    /// Its status.
    pub(crate) status: StatusCode,
    /// The headers that callers evaluate.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) body: Bytes,
}

impl UpstreamRejection {
    /// Whether a retry may succeed. The server can decide this with a header, as OpenAI's does.
    pub(crate) fn is_retryable(&self) -> bool {
        match self.headers.get("x-should-retry").map(http::HeaderValue::as_bytes) {
            Some(b"true") => true,
            Some(b"false") => false,
            _ => RETRYABLE_STATUSES.contains(&self.status.as_u16()),
        }
    }

    /// Whether the server rejected encrypted reasoning or a compaction of its own kind. OpenAI
    /// answers `The encrypted content gAAA...c90= could not be verified.` with the code
    /// `invalid_encrypted_content`, Anthropic `` Invalid `signature` in `thinking` block ``.
    pub(crate) fn rejects_reasoning(&self) -> bool {
        let error = self.error();
        let message = error["message"].as_str().unwrap_or_default();
        self.status == StatusCode::BAD_REQUEST
            && (error["code"] == "invalid_encrypted_content"
                || message.contains("ncrypted content") && message.contains("could not be")
                || message.contains("Invalid `signature` in `thinking` block")
                || message.contains("Invalid `data` in `redacted_thinking` block"))
    }

    /// Whether the server rejected the compaction settings: the error names one of the fields.
    pub(crate) fn rejects_compaction(&self) -> bool {
        let body = String::from_utf8_lossy(&self.body);
        matches!(self.status.as_u16(), 400 | 422)
            && ["context_management", "compaction_trigger"].iter().any(|name| body.contains(name))
    }

    /// The `error` of the body, or null without one.
    pub(crate) fn error(&self) -> Value {
        let body = serde_json::from_slice::<Value>(&self.body);
        body.map(|mut body| body["error"].take()).unwrap_or_default()
    }

    pub(crate) fn as_failure(&self) -> Failure {
        let error = self.error();
        // Some servers repeat the status as the code.
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

/// Statuses that permit a retry: the server did nothing, and may succeed next time. 529 is
/// Anthropic's status for an overloaded server.
const RETRYABLE_STATUSES: [u16; 8] = [408, 409, 429, 500, 502, 503, 504, 529];

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    fn rejection(status: u16, headers: HeaderMap, body: &Value) -> UpstreamRejection {
        let status = StatusCode::from_u16(status).unwrap();
        UpstreamRejection { status, headers, body: body.to_string().into() }
    }

    #[test]
    fn header_outranks_status_for_retries() {
        let plain = |status| rejection(status, HeaderMap::new(), &json!({})).is_retryable();
        for status in RETRYABLE_STATUSES {
            assert!(plain(status), "{status}");
        }
        for status in [400, 401, 403, 404, 413, 422, 501] {
            assert!(!plain(status), "{status}");
        }
        let with_header = |status, word| {
            let word = HeaderValue::from_static(word);
            let name = http::HeaderName::from_static("x-should-retry");
            rejection(status, HeaderMap::from_iter([(name, word)]), &json!({})).is_retryable()
        };
        assert!(with_header(400, "true"));
        assert!(!with_header(503, "false"));
        assert!(with_header(503, "perhaps"));
    }

    #[test]
    fn rejected_encrypted_reasoning_is_recognized() {
        let error = |code: &str, message: &str| {
            let body = json!({"error": {"code": code, "message": message}});
            rejection(400, HeaderMap::new(), &body).rejects_reasoning()
        };
        let verified = "The encrypted content gAAA...c90= could not be verified.";
        assert!(error("invalid_encrypted_content", ""));
        assert!(error("", verified));
        assert!(error("", "messages.1.content.0: Invalid `signature` in `thinking` block"));
        assert!(!error("", "Encrypted content is not supported with this model."));
        assert!(!error("invalid_value", "Invalid 'input[0].id'."));
    }
}
