//! An upstream that discards its requests and sends a configured number of deltas.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use antiphon_mock::serve;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The answer to every request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// Sent once.
    pub(crate) head: String,
    /// Sent `count` times.
    pub(crate) delta: String,
    pub(crate) count: usize,
    /// Sent once.
    pub(crate) tail: String,
}

pub(crate) struct Upstream {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    answer: Answer,
    received: AtomicU64,
}

impl Upstream {
    pub(crate) async fn start(answer: Answer) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { answer, received: AtomicU64::new(0) });
        let router =
            Router::new().route("/v1/{*path}", post(respond)).with_state(Arc::clone(&shared));
        let server = tokio::spawn(serve(listener, router));
        Ok(Self { address, shared, server })
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The total size of all requests in bytes.
    pub(crate) fn received(&self) -> u64 {
        self.shared.received.load(Ordering::Relaxed)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn respond(State(shared): State<Arc<Shared>>, request: Body) -> Response {
    let mut pieces = request.into_data_stream();
    while let Some(Ok(piece)) = pieces.next().await {
        shared.received.fetch_add(piece.len() as u64, Ordering::Relaxed);
    }
    let Answer { head, delta, count, tail } = shared.answer.clone();
    let delta = Bytes::from(delta);
    let deltas = stream::iter(std::iter::repeat_n(delta, count));
    let whole = stream::iter([Bytes::from(head)]).chain(deltas).chain(stream::iter([tail.into()]));
    let body = Body::from_stream(whole.map(Ok::<_, Infallible>));
    ([("content-type", "text/event-stream")], body).into_response()
}
