//! Which headers pass.
//!
//! Source: RFC 9110, section 7.6.1, for those that concern one connection only.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Those that concern one connection only, beside those that `Connection` names.
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

/// Those of a request that are meant for the gateway, or tell of the network in front of it.
const FOR_THE_GATEWAY: [&str; 6] = ["host", "cookie", "expect", "forwarded", "x-real-ip", "via"];
const FORWARDED: &str = "x-forwarded-";

/// Those that show who the caller is.
const CREDENTIALS: [&str; 3] = ["authorization", "x-api-key", "api-key"];

/// Those of an answer that speak of the upstream's host, which the caller did not ask.
const OF_THE_HOST: [&str; 3] = ["set-cookie", "alt-svc", "strict-transport-security"];

/// A request's headers as an upstream gets them: without the caller's credentials where it is shown the
/// operator's key, and without the header in which a proxy names the tenant.
pub(in super::super) fn to_upstream(
    headers: &HeaderMap,
    own_key: bool,
    tenant_header: Option<&HeaderName>,
) -> HeaderMap {
    kept(headers, |name| {
        let is_ours = FOR_THE_GATEWAY.contains(&name.as_str())
            || name.as_str().starts_with(FORWARDED)
            || tenant_header == Some(name);
        let is_replaced = own_key && CREDENTIALS.contains(&name.as_str());
        !is_ours && !is_replaced
    })
}

/// An answer's headers as the caller gets them.
pub(in super::super) fn to_caller(headers: &HeaderMap) -> HeaderMap {
    kept(headers, |name| !OF_THE_HOST.contains(&name.as_str()))
}

fn kept(headers: &HeaderMap, keep: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let named = named_by_connection(headers);
    let passes = |name: &HeaderName| {
        let is_of_a_connection = OF_A_CONNECTION.contains(&name.as_str())
            || named.iter().any(|named| name == named.as_str());
        !is_of_a_connection && keep(name)
    };
    let kept = headers.iter().filter(|(name, _)| passes(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// In lower case, as names are written here. The length of a body belongs to the body, whatever a
/// connection says of it.
fn named_by_connection(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::CONNECTION).iter().filter_map(text);
    let names = values.flat_map(|value| value.split(',')).map(|name| name.trim().to_lowercase());
    names.filter(|name| name != header::CONTENT_LENGTH.as_str()).collect()
}

fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}
