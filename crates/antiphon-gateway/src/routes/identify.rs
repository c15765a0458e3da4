//! The outermost layer: every request has an id, and its answer says it.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderMap;
use tracing::Instrument as _;

use crate::request_id::{REQUEST_ID, RequestId, UPSTREAM_REQUEST_ID};
use crate::trace::request_span;

/// Gives the request an id and a span, and the answer the id.
pub(super) async fn identify(mut request: Request, next: Next) -> Response {
    let id = RequestId::from_headers(request.headers());
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).instrument(request_span(&id)).await;
    set_ids(response.headers_mut(), &id);
    response
}

/// Sets the id of the request. An id that is there already is an upstream's: it moves to a header of
/// its own, since the caller's and the gateway's logs know the request by the other.
fn set_ids(headers: &mut HeaderMap, id: &RequestId) {
    if let Some(upstream) = headers.insert(REQUEST_ID, id.to_value()) {
        headers.insert(UPSTREAM_REQUEST_ID, upstream);
    }
}
