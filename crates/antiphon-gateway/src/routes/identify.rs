//! Gives every request an id and a span, and adds the id to the answer.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode};
use http_body::{Frame, SizeHint};
use tracing::Instrument as _;

use crate::gateway::Gateway;
use crate::request_id::{REQUEST_ID, RequestId, UPSTREAM_REQUEST_ID};
use crate::span::TraceSpan;
use crate::trace::{record_trace, request_span};

/// Assigns an id and spans to the request, and adds the id to the answer of `next`.
pub(super) async fn identify<F: Future<Output = Response>>(
    gateway: &Gateway,
    mut request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let id = RequestId::from_headers(request.headers());
    let (method, route) = (request.method().clone(), request.extensions().get().cloned());
    let matched = route.as_ref().map(MatchedPath::as_str);
    let (trace, trace_id) = gateway.tracer.begin_request(&mut request, matched, &id);
    request.extensions_mut().insert(id.clone());
    if trace.is_recording() {
        request.extensions_mut().insert(trace.clone());
    }
    let span = request_span(&id);
    record_trace(&span, trace_id);
    let mut response = next(request).instrument(span.clone()).await;
    let path = route.as_ref().map_or("other", MatchedPath::as_str);
    let status = response.status();
    gateway.metrics.requests.with_label_values(&[path, status.as_str()]).inc();
    if response.status().is_server_error() {
        span.in_scope(|| log_failure(&method, route.as_ref(), response.status()));
    }
    set_ids(response.headers_mut(), &id);
    match trace.is_recording() {
        true => traced(response, trace),
        false => response,
    }
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

/// Records the status of an answer. Its span ends with its body.
fn traced(response: Response, trace: TraceSpan) -> Response {
    trace.record_status(response.status());
    response.map(|body| Body::new(TracedBody { body, _trace: trace }))
}

/// A body that holds the span of its request.
struct TracedBody {
    body: Body,
    _trace: TraceSpan,
}

impl http_body::Body for TracedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
