//! The outermost layer: gives every request an id and adds it to the answer.

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode};
use tracing::Instrument as _;

use crate::request_id::{REQUEST_ID, RequestId, UPSTREAM_REQUEST_ID};
use crate::trace::request_span;

/// Assigns an id and a span to the request, and adds the id to the answer.
pub(super) async fn identify(mut request: Request, next: Next) -> Response {
    let id = RequestId::from_headers(request.headers());
    request.extensions_mut().insert(id.clone());
    let span = request_span(&id);
    let (method, route) = (request.method().clone(), request.extensions().get().cloned());
    let mut response = next.run(request).instrument(span.clone()).await;
    if response.status().is_server_error() {
        span.in_scope(|| log_failure(&method, route.as_ref(), response.status()));
    }
    set_ids(response.headers_mut(), &id);
    response
}

/// Logs an answer with a status of 500 or above. A turn logs its own failure, with the reason.
fn log_failure(method: &Method, route: Option<&MatchedPath>, status: StatusCode) {
    let route = route.map(MatchedPath::as_str);
    let is_turn = *method == Method::POST && route == Some("/v1/responses");
    if !is_turn && route != Some("/readyz") {
        let status = status.as_u16();
        tracing::warn!(%method, route, status, "request failed");
    }
}

/// Sets the id of the request. If the answer already has an upstream's id, that id moves to a
/// header of its own: the logs of the caller and the gateway contain only the gateway's id.
fn set_ids(headers: &mut HeaderMap, id: &RequestId) {
    if let Some(upstream) = headers.insert(REQUEST_ID, id.to_value()) {
        headers.insert(UPSTREAM_REQUEST_ID, upstream);
    }
}
