//! CORS answers for the web pages that may use the gateway.
//!
//! Source: the Fetch standard, "HTTP extensions" of the CORS protocol; the Private Network Access
//! draft for the header of that name.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, VARY,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::request_id::{REQUEST_ID, UPSTREAM_REQUEST_ID};
use crate::settings::Origin;

const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";
/// The seconds for which a browser may cache the answer.
const MAX_AGE: &str = "600";
const REQUEST_PRIVATE_NETWORK: &str = "access-control-request-private-network";
const ALLOW_PRIVATE_NETWORK: &str = "access-control-allow-private-network";

/// Whether the request is a preflight: a browser asks for permission to send its page's request.
pub(super) fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer that permits the page's request, with any headers that it asks for.
pub(super) fn preflight(request: &Request, origin: &Origin) -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    if let Some(wanted) = request.headers().get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    if request.headers().contains_key(REQUEST_PRIVATE_NETWORK) {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    let varies = HeaderValue::from_static(
        "origin, access-control-request-method, access-control-request-headers, \
         access-control-request-private-network",
    );
    headers.append(VARY, varies);
    allow(headers, origin);
    answer
}

/// Lets the page read an answer: its body and all its headers.
pub(super) fn expose(headers: &mut HeaderMap, origin: &Origin) {
    // An outer layer adds these to every answer.
    let ids = [REQUEST_ID, UPSTREAM_REQUEST_ID];
    let names: Vec<&str> = headers.keys().chain(&ids).map(http::HeaderName::as_str).collect();
    let names =
        HeaderValue::try_from(names.join(", ")).expect("names of headers are visible ASCII");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, names);
    headers.remove(ACCESS_CONTROL_ALLOW_CREDENTIALS);
    allow(headers, origin);
}

/// Prevents a cache from using the answer for one page for another page.
pub(super) fn vary(headers: &mut HeaderMap) {
    headers.append(VARY, HeaderValue::from_static("origin"));
}

fn allow(headers: &mut HeaderMap, origin: &Origin) {
    let origin = HeaderValue::try_from(origin.as_str()).expect("an origin is visible ASCII");
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
}
