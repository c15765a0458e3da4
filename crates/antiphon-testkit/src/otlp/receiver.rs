//! The receiver as an HTTP server.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use bytes::Bytes;
use flate2::read::GzDecoder;
use http::{HeaderMap, StatusCode, header};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::span::{Span, attributes};

/// A receiver on a loopback port. Dropping it stops the server.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    received: Arc<Received>,
    server: JoinHandle<()>,
}

/// One request of an exporter.
#[derive(Clone, Debug)]
pub struct Export {
    /// Its headers.
    pub headers: HeaderMap,
    /// The size of its body in bytes, as it was sent.
    pub bytes: usize,
    /// Its spans.
    pub spans: Vec<Span>,
}

/// The exports that a receiver has got.
#[derive(Debug)]
pub(crate) struct Received {
    exports: Mutex<Vec<Export>>,
    metrics: Mutex<Vec<(HeaderMap, ExportMetricsServiceRequest)>>,
    /// The number of exports that were received, and that were refused, for those who wait.
    counts: watch::Sender<(usize, usize)>,
    /// The status of the answers.
    status: Mutex<StatusCode>,
}

impl Default for Received {
    fn default() -> Self {
        let (counts, _) = watch::channel((0, 0));
        let status = Mutex::new(StatusCode::OK);
        Self { exports: Mutex::default(), metrics: Mutex::default(), counts, status }
    }
}

impl Receiver {
    /// Starts on a free loopback port.
    ///
    /// # Panics
    /// When the machine has no free loopback port.
    pub async fn start() -> Self {
        Self::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a loopback port is free")
    }

    /// Starts on the given address; port 0 picks a free one.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let received = Arc::new(Received::default());
        let app = router(Arc::clone(&received));
        let server = tokio::spawn(async move { drop(axum::serve(listener, app).await) });
        Ok(Self { address, received, server })
    }

    /// The endpoint of all signals: `http://127.0.0.1:PORT`.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers all further exports with this status. Their spans count as not received if it is no
    /// success.
    pub fn answer_with(&self, status: StatusCode) {
        *self.received.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    /// The exports so far.
    pub fn exports(&self) -> Vec<Export> {
        self.received.exports().clone()
    }

    /// The spans so far.
    pub fn spans(&self) -> Vec<Span> {
        self.received.spans()
    }

    /// The number of spans so far.
    pub fn span_count(&self) -> usize {
        self.received.exports().iter().map(|export| export.spans.len()).sum()
    }

    /// Waits until `find` finds something in the spans.
    ///
    /// # Panics
    /// Never, as long as the receiver exists.
    pub async fn wait<T>(&self, mut find: impl FnMut(&[Span]) -> Option<T>) -> T {
        let mut counts = self.received.counts.subscribe();
        loop {
            counts.borrow_and_update();
            if let Some(found) = find(&self.spans()) {
                return found;
            }
            counts.changed().await.expect("the receiver exists");
        }
    }

    /// The exports of metrics so far.
    pub fn metrics(&self) -> Vec<ExportMetricsServiceRequest> {
        self.received.metrics()
    }

    /// The headers of the exports of metrics so far.
    pub fn metric_headers(&self) -> Vec<HeaderMap> {
        let metrics = self.received.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        metrics.iter().map(|(headers, _)| headers.clone()).collect()
    }

    /// Waits until so many exports of metrics have arrived, and returns them.
    ///
    /// # Panics
    /// Never, as long as the receiver exists.
    pub async fn wait_for_metrics(&self, count: usize) -> Vec<ExportMetricsServiceRequest> {
        let mut counts = self.received.counts.subscribe();
        loop {
            counts.borrow_and_update();
            let metrics = self.metrics();
            if metrics.len() >= count {
                return metrics;
            }
            counts.changed().await.expect("the receiver exists");
        }
    }

    /// Waits until so many exports were refused.
    ///
    /// # Panics
    /// Never, as long as the receiver exists.
    pub async fn wait_for_refusals(&self, count: usize) {
        let mut counts = self.received.counts.subscribe();
        let refused = counts.wait_for(|(_, refused)| *refused >= count).await;
        refused.expect("the receiver exists");
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Received {
    fn exports(&self) -> std::sync::MutexGuard<'_, Vec<Export>> {
        self.exports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The spans so far.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.exports().iter().flat_map(|export| export.spans.clone()).collect()
    }

    /// The exports of metrics so far.
    pub(crate) fn metrics(&self) -> Vec<ExportMetricsServiceRequest> {
        let metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        metrics.iter().map(|(_, message)| message.clone()).collect()
    }

    /// The answer to an export that is refused; counts it.
    fn refusal(&self) -> Option<Response> {
        let status = *self.status.lock().unwrap_or_else(PoisonError::into_inner);
        if status.is_success() {
            return None;
        }
        self.counts.send_modify(|(_, refused)| *refused += 1);
        Some(status.into_response())
    }

    fn add(&self, export: Export) {
        self.exports().push(export);
        self.counts.send_modify(|(received, _)| *received += 1);
    }
}

/// The routes of a receiver.
pub(crate) fn router(received: Arc<Received>) -> Router {
    Router::new()
        .route("/v1/traces", post(receive_traces))
        .route("/v1/metrics", post(receive_metrics))
        .layer(DefaultBodyLimit::disable())
        .with_state(received)
}

async fn receive_traces(
    State(received): State<Arc<Received>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Some(refusal) = received.refusal() {
        return refusal;
    }
    let Some(message) = decode(&headers, &body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    received.add(Export { headers, bytes: body.len(), spans: spans(message) });
    protobuf(&ExportTraceServiceResponse::default())
}

async fn receive_metrics(
    State(received): State<Arc<Received>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Some(refusal) = received.refusal() {
        return refusal;
    }
    let Some(message) = decode(&headers, &body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    received.metrics.lock().unwrap_or_else(PoisonError::into_inner).push((headers, message));
    received.counts.send_modify(|(received, _)| *received += 1);
    protobuf(&ExportMetricsServiceResponse::default())
}

/// The message in a body; `None` if it is not protobuf.
fn decode<T: prost::Message + Default>(headers: &HeaderMap, body: &Bytes) -> Option<T> {
    if headers.get(header::CONTENT_TYPE)? != "application/x-protobuf" {
        return None;
    }
    let is_compressed = headers.get(header::CONTENT_ENCODING).is_some_and(|it| it == "gzip");
    if !is_compressed {
        return T::decode(body.clone()).ok();
    }
    let mut whole = Vec::new();
    GzDecoder::new(&**body).read_to_end(&mut whole).ok()?;
    T::decode(&*whole).ok()
}

fn spans(message: ExportTraceServiceRequest) -> Vec<Span> {
    let mut spans = Vec::new();
    for of_resource in message.resource_spans {
        let resource: BTreeMap<_, _> =
            of_resource.resource.map(|it| attributes(&it.attributes)).unwrap_or_default();
        let received = of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
        spans.extend(received.map(|span| Span::new(span, &resource)));
    }
    spans
}

fn protobuf(message: &impl prost::Message) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/x-protobuf")];
    (headers, message.encode_to_vec()).into_response()
}
