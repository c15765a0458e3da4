//! The id of a request, which its answer, its log lines and its report contain.

use std::fmt;
use std::sync::Arc;

use antiphon::IdSource as _;
use antiphon::item::push_hex;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::entropy::RandomIds;

/// The header with the id, in a request and in its answer. The official SDKs expose it as
/// `_request_id`.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The header with the id that an upstream assigned to the gateway's request.
pub(crate) const UPSTREAM_REQUEST_ID: HeaderName =
    HeaderName::from_static("antiphon-upstream-request-id");

/// The maximum length of an id from a caller or an upstream.
const MAX_LENGTH: usize = 128;

/// The id of a request. It is short and contains only letters, digits, `.`, `_`, `:` and `-`, so
/// that it needs no escaping in a header or a log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    /// The caller's id. A new id if the header is missing, repeated or not well-formed.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let mut sent = headers.get_all(REQUEST_ID).iter();
        match (sent.next(), sent.next()) {
            (Some(only), None) => Self::from_value(only).unwrap_or_else(Self::issue),
            _ => Self::issue(),
        }
    }

    /// A new id.
    pub(crate) fn issue() -> Self {
        let mut random = [0; 16];
        RandomIds.fill(&mut random);
        let mut id = String::from("req_");
        push_hex(&mut id, &random);
        Self(id.into())
    }

    /// The id in a header's value; `None` if it is not well-formed.
    pub(crate) fn from_value(value: &HeaderValue) -> Option<Self> {
        Self::parse(value.to_str().ok()?)
    }

    /// Parses an id. `None` if it is not well-formed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        is_plain_id(text).then(|| Self(text.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as a header's value.
    pub(crate) fn to_value(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).expect("an id holds visible ASCII only")
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text looks like an id: 1 to 128 letters, digits, `.`, `_`, `:` or `-`.
pub(crate) fn is_plain_id(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(ids: &[&str]) -> HeaderMap {
        ids.iter().map(|id| (REQUEST_ID, HeaderValue::from_str(id).unwrap())).fold(
            HeaderMap::new(),
            |mut headers, (name, value)| {
                headers.append(name, value);
                headers
            },
        )
    }

    #[test]
    fn well_formed_id_of_the_caller_is_kept() {
        let longest = "a".repeat(128);
        for id in ["1", "req_0a", "trace:7-f.3", &longest] {
            assert_eq!(RequestId::from_headers(&headers(&[id])).as_str(), id);
        }
    }

    #[test]
    fn other_ids_are_replaced() {
        let too_long = "a".repeat(129);
        for ids in [&[][..], &[""], &["a b"], &["a\"b"], &["a/b"], &[&too_long], &["a", "a"]] {
            let id = RequestId::from_headers(&headers(ids));
            assert!(id.as_str().starts_with("req_"), "{id}");
            assert_eq!(id.as_str().len(), 36);
        }
    }
}
