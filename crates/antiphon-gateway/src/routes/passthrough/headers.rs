//! Filters for forwarded headers.
//!
//! Source: RFC 9110, section 7.6.1, for the headers of a single connection.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Headers of a single connection, in addition to the ones that `Connection` names.
const OF_A_CONNECTION: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Request headers for the gateway, or about the network in front of it.
const FOR_THE_GATEWAY: [&str; 6] = ["host", "cookie", "expect", "forwarded", "x-real-ip", "via"];
const FORWARDED: &str = "x-forwarded-";

/// Request headers with the caller's credentials.
const CREDENTIALS: [&str; 4] = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/// Answer headers about the upstream's host, which the caller did not contact.
const OF_THE_HOST: [&str; 3] = ["set-cookie", "alt-svc", "strict-transport-security"];

/// The request headers for an upstream. Removes the tenant header, and also the caller's
/// credentials if the gateway sends the operator's key.
pub(in super::super) fn to_upstream(
    headers: &HeaderMap,
    own_key: bool,
    tenant_header: Option<&HeaderName>,
) -> HeaderMap {
    filter_headers(headers, |name| {
        let is_ours = FOR_THE_GATEWAY.contains(&name.as_str())
            || name.as_str().starts_with(FORWARDED)
            || tenant_header == Some(name);
        let is_replaced = own_key && CREDENTIALS.contains(&name.as_str());
        !is_ours && !is_replaced
    })
}

/// The answer headers for the caller.
pub(in super::super) fn to_caller(headers: &HeaderMap) -> HeaderMap {
    filter_headers(headers, |name| !OF_THE_HOST.contains(&name.as_str()))
}

fn filter_headers(headers: &HeaderMap, keep: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let named = named_by_connection(headers);
    let passes = |name: &HeaderName| {
        let is_of_a_connection = OF_A_CONNECTION.contains(&name.as_str())
            || named.iter().any(|named| name == named.as_str());
        !is_of_a_connection && keep(name)
    };
    let kept = headers.iter().filter(|(name, _)| passes(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The header names that `Connection` lists, in lower case. `Content-Length` is excluded: it
/// belongs to the body and must not be removed.
fn named_by_connection(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::CONNECTION).iter().filter_map(text);
    let names = values.flat_map(|value| value.split(',')).map(|name| name.trim().to_lowercase());
    names.filter(|name| name != header::CONTENT_LENGTH.as_str()).collect()
}

fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}
