//! The spans of requests: of HTTP, of a WebSocket, and of turns in the background.

use antiphon::json::Object;
use http::{Method, Request, StatusCode, header};
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanBuilder, SpanContext, SpanKind, TraceId};

use super::log_span::{MAX_TEXT, shortened};
use crate::caller::Caller;
use crate::request::CreateRequest;
use crate::request_id::RequestId;
use crate::span::attribute::{
    CONNECTION, HTTP_METHOD, HTTP_ROUTE, HTTP_STATUS, NETWORK_PROTOCOL, REQUEST_ID, TENANT,
    URL_PATH, USER_AGENT,
};
use crate::span::context::{extract, parse};
use crate::span::{TraceSpan, optional};
use crate::span::{Tracer, Tracing};

/// The routes of probes, which have no spans.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// The context that Codex sends in the event of a turn, because the headers of a WebSocket are
/// older than its turns.
const EVENT_TRACEPARENT: &str = "ws_request_header_traceparent";
const EVENT_TRACESTATE: &str = "ws_request_header_tracestate";

/// The connection of a WebSocket, as the traces of its turns name it. The span of the request that
/// opened it has ended.
pub(crate) struct ConnectionTrace {
    /// The id of that request.
    pub(crate) request_id: RequestId,
    span: Option<SpanContext>,
}

impl ConnectionTrace {
    /// Takes the span of the request that opened the connection.
    pub(crate) fn new(caller: &mut Caller) -> Self {
        let span = std::mem::take(&mut caller.trace);
        Self { request_id: caller.request_id.clone(), span: span.context().cloned() }
    }
}

impl Tracer {
    /// Starts the server span of an HTTP request, as a part of its caller's trace. The span's
    /// context replaces the caller's in the headers, so that every request to an upstream which
    /// forwards them belongs to the same trace.
    ///
    /// Returns the id of the trace also if it is not sampled, and without an exporter that of the
    /// caller.
    pub(crate) fn begin_request<B>(
        &self,
        request: &mut Request<B>,
        route: Option<&str>,
        id: &RequestId,
    ) -> (TraceSpan, Option<TraceId>) {
        let parent = extract(request.headers());
        let Some(tracing) = self.tracing() else {
            return (TraceSpan::default(), parent.as_ref().map(SpanContext::trace_id));
        };
        if route.is_some_and(|route| PROBES.contains(&route)) {
            return (TraceSpan::default(), None);
        }
        let has_parent = parent.is_some();
        let (span, context) = tracing.start_server("request", parent);
        // Without a context of the caller, each turn of a WebSocket is a trace of its own.
        if has_parent || !request.headers().contains_key(header::UPGRADE) {
            tracing.inject(&context, request.headers_mut());
        }
        span.rename(|| span_name(request.method(), route));
        span.record(|| request_attributes(request, route, id));
        (span, Some(context.trace_id()))
    }

    /// Starts the server span of a turn of a WebSocket, with a link to that of its connection.
    pub(crate) fn begin_lane_turn(
        &self,
        caller: &mut Caller,
        request: &CreateRequest,
        connection: &ConnectionTrace,
    ) -> Option<TraceId> {
        let of_connection = extract(&caller.headers);
        let Some(tracing) = self.tracing() else {
            return of_connection.as_ref().map(SpanContext::trace_id);
        };
        let parent = event_context(request).or(of_connection);
        let (span, context) = tracing.start_server("response.create", parent);
        tracing.inject(&context, &mut caller.headers);
        span.link_to(connection.span.as_ref());
        span.record(|| {
            [
                KeyValue::new(NETWORK_PROTOCOL, "websocket"),
                KeyValue::new(REQUEST_ID, caller.request_id.to_string()),
                KeyValue::new(CONNECTION, connection.request_id.to_string()),
                KeyValue::new(TENANT, caller.tenant.as_str().to_owned()),
            ]
        });
        caller.trace = span;
        Some(context.trace_id())
    }

    /// Starts the span of a turn that outlives its request. It continues the trace of the request,
    /// also in another process: the caller's headers, which a job stores, have its context.
    pub(crate) fn begin_background_turn(&self, caller: &mut Caller) -> Option<TraceId> {
        let tracing = self.tracing()?;
        let builder = SpanBuilder::from_name("background turn").with_kind(SpanKind::Internal);
        let request = std::mem::take(&mut caller.trace);
        let (span, context) = if request.is_recording() {
            let span = request.child(|| builder);
            let context = span.context().cloned();
            (span, context)
        } else {
            let (span, context) = tracing.start(builder, extract(&caller.headers));
            (span, Some(context))
        };
        let context = context?;
        tracing.inject(&context, &mut caller.headers);
        span.record(|| {
            [
                KeyValue::new(REQUEST_ID, caller.request_id.to_string()),
                KeyValue::new(TENANT, caller.tenant.as_str().to_owned()),
            ]
        });
        caller.trace = span;
        Some(context.trace_id())
    }
}

impl Tracing {
    fn start_server(
        &self,
        name: &'static str,
        parent: Option<SpanContext>,
    ) -> (TraceSpan, SpanContext) {
        self.start(SpanBuilder::from_name(name).with_kind(SpanKind::Server), parent)
    }
}

impl TraceSpan {
    /// Records the tenant of a request.
    pub(crate) fn record_caller(&self, caller: &Caller) {
        self.record(|| [KeyValue::new(TENANT, caller.tenant.as_str().to_owned())]);
    }

    /// Records the status of an HTTP answer. A server's span fails only with a status from 500.
    pub(crate) fn record_status(&self, status: StatusCode) {
        self.set(HTTP_STATUS, i64::from(status.as_u16()));
        if status.is_server_error() {
            self.fail(status.as_str());
        }
    }
}

fn span_name(method: &Method, route: Option<&str>) -> String {
    match route {
        Some(route) => format!("{method} {route}"),
        None => method.to_string(),
    }
}

fn request_attributes<B>(
    request: &Request<B>,
    route: Option<&str>,
    id: &RequestId,
) -> Vec<KeyValue> {
    let agent = request.headers().get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let agent = agent.map(|agent| shortened(agent, MAX_TEXT).to_owned());
    let path = shortened(request.uri().path(), MAX_TEXT).to_owned();
    let known = [
        KeyValue::new(HTTP_METHOD, request.method().to_string()),
        KeyValue::new(URL_PATH, path),
        KeyValue::new(REQUEST_ID, id.to_string()),
    ];
    let found = [optional(HTTP_ROUTE, route.map(str::to_owned)), optional(USER_AGENT, agent)];
    known.into_iter().chain(found.into_iter().flatten()).collect()
}

/// The context in the event of a turn.
fn event_context(request: &CreateRequest) -> Option<SpanContext> {
    if !request.fields.contains(EVENT_TRACEPARENT) {
        return None;
    }
    let fields = request.object();
    let metadata = Object::parse_str(fields.present("client_metadata")?).ok()?;
    parse(&metadata.string(EVENT_TRACEPARENT)?, metadata.string(EVENT_TRACESTATE).as_deref())
}
