//! An answer with an error status.

use std::time::{Duration, UNIX_EPOCH};

use antiphon::faults::StateError;
use antiphon::json::Object;
use bytes::Bytes;
use http::HeaderMap;

/// An answer with a status other than 2xx: the server's error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The HTTP status.
    pub status: u16,
    /// `error.code`, if it is a text.
    pub code: Option<String>,
    /// `error.type`
    pub error_type: Option<String>,
    /// `error.param`
    pub param: Option<String>,
    /// `error.message`; the beginning of the body if it is not an error object.
    pub message: String,
    /// The delay that the server asks for: `retry-after-ms`, or `retry-after` in seconds or as a
    /// date.
    pub retry_after: Option<Duration>,
    /// The `x-should-retry` header.
    pub should_retry: Option<bool>,
    /// The server's id of the request.
    pub request_id: Option<String>,
    /// The body as received, at most one megabyte of it.
    pub body: Bytes,
}

/// The maximum number of characters of a body in a message.
const EXCERPT: usize = 200;

impl Rejection {
    /// Reads a rejection. `now` is in Unix seconds, for a delay that is given as a date.
    pub fn new(status: u16, headers: &HeaderMap, body: &Bytes, now: i64) -> Self {
        let fields = Object::parse(body).unwrap_or_default();
        let nested = fields.get("error").and_then(|raw| Object::parse_str(raw).ok());
        let error = nested.as_ref().unwrap_or(&fields);
        let text = |key: &str| error.string(key).map(std::borrow::Cow::into_owned);
        Self {
            status,
            code: text("code"),
            error_type: text("type"),
            param: text("param"),
            message: text("message").unwrap_or_else(|| excerpt(body)),
            retry_after: retry_after(headers, now),
            should_retry: header(headers, "x-should-retry").and_then(|text| text.parse().ok()),
            request_id: ["x-request-id", "request-id"]
                .iter()
                .find_map(|name| header(headers, name))
                .map(str::to_owned),
            body: body.clone(),
        }
    }

    /// The state error, if the server names one: the request does not fit its stored items.
    pub fn state_error(&self) -> Option<StateError> {
        StateError::recognize(self.code.as_deref().unwrap_or_default(), &self.message)
    }
}

fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(body).trim().chars().take(EXCERPT).collect()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn retry_after(headers: &HeaderMap, now: i64) -> Option<Duration> {
    let milliseconds = header(headers, "retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    let milliseconds = milliseconds.map(|milliseconds| milliseconds / 1000.0);
    let requested = header(headers, "retry-after");
    let seconds = milliseconds.or_else(|| requested?.parse().ok());
    match seconds {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => delay_until(requested?, now),
    }
}

/// The delay from `now` until an HTTP date.
fn delay_until(date: &str, now: i64) -> Option<Duration> {
    let date = httpdate::parse_http_date(date).ok()?.duration_since(UNIX_EPOCH).ok()?;
    let now = Duration::from_secs(u64::try_from(now).ok()?);
    Some(date.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[(&'static str, &'static str)], body: &'static str) -> Rejection {
        let parsed = |(name, value): &(&'static str, &'static str)| {
            (name.parse().unwrap(), value.parse().unwrap())
        };
        let headers: HeaderMap = headers.iter().map(parsed).collect();
        // The example of RFC 9110: Sun, 06 Nov 1994 08:49:37 GMT.
        Rejection::new(429, &headers, &Bytes::from_static(body.as_bytes()), 784_111_777)
    }

    #[test]
    fn delay_is_read_in_each_form() {
        let delay = |headers| read(headers, "").retry_after;
        assert_eq!(delay(&[("retry-after", "2")]), Some(Duration::from_secs(2)));
        let both = [("retry-after", "2"), ("retry-after-ms", "250")];
        assert_eq!(delay(&both), Some(Duration::from_millis(250)));
        let date = [("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT")];
        assert_eq!(delay(&date), Some(Duration::from_secs(10)));
        assert_eq!(delay(&[("retry-after", "-1")]), None);
        assert_eq!(delay(&[]), None);
    }

    #[test]
    fn error_of_each_vendor_is_read() {
        let openai = r#"{"error":{"message":"m","type":"t","param":"p","code":null}}"#;
        let rejection = read(&[("x-should-retry", "true"), ("x-request-id", "req_1")], openai);
        assert_eq!((rejection.message.as_str(), rejection.code), ("m", None));
        assert_eq!(rejection.error_type.as_deref(), Some("t"));
        assert_eq!(rejection.param.as_deref(), Some("p"));
        assert_eq!(rejection.should_retry, Some(true));
        assert_eq!(rejection.request_id.as_deref(), Some("req_1"));
        let anthropic = r#"{"type":"error","error":{"type":"overloaded_error","message":"o"}}"#;
        assert_eq!(read(&[], anthropic).error_type.as_deref(), Some("overloaded_error"));
        assert_eq!(read(&[], "<h1>Bad gateway</h1>").message, "<h1>Bad gateway</h1>");
    }
}
