//! The fake provider as an HTTP server.

mod record;
mod routes;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use antiphon_mock::{Exchange, Hold, Refusal, Reply, serve};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use record::Log;

use crate::otlp;

pub use record::Recorded;

/// A stateless provider of every [`Api`](antiphon_mock::Api) on a loopback port.
///
/// It records every request except `GET /v1/models`, with the verdict of its API's
/// [judge](antiphon_mock::judge). A scripted reply is sent for any verdict. Without one, a refused
/// request gets the provider's error, and any other request gets the answer of the
/// [default model](antiphon_mock::default_model). Dropping it stops the server.
#[derive(Debug)]
pub struct FakeUpstream {
    address: SocketAddr,
    state: Arc<State>,
    server: JoinHandle<()>,
}

impl FakeUpstream {
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
        let state = Arc::new(State::default());
        let router = routes::router(Arc::clone(&state));
        let server = tokio::spawn(serve(listener, router));
        Ok(Self { address, state, server })
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL of requests: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Queues the reply to a future request. Replies are sent in the order of the calls.
    ///
    /// The handle releases withheld chunks and reports the delivery.
    pub fn script(&self, reply: Reply) -> Exchange {
        let exchange = reply.exchange();
        let scripted = Scripted { reply, exchange: exchange.clone() };
        self.state.scripted().push_back(scripted);
        exchange
    }

    /// Whether scripted replies are still queued.
    pub fn has_scripted(&self) -> bool {
        !self.state.scripted().is_empty()
    }

    /// The requests so far, in the order they came.
    pub fn requests(&self) -> Vec<Recorded> {
        self.state.log.all()
    }

    /// Waits until more than `index` requests have arrived, then returns the one at `index`.
    pub async fn request(&self, index: usize) -> Recorded {
        self.state.log.nth(index).await
    }

    /// All refusals so far, including those of requests with scripted replies.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.requests().into_iter().filter_map(|request| request.verdict.err()).collect()
    }
}

impl Drop for FakeUpstream {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// The state that the server shares with the test.
#[derive(Debug, Default)]
struct State {
    log: Log,
    /// The traces that a gateway exports to this server, below `/otlp`.
    traces: Arc<otlp::Received>,
    scripted: Mutex<VecDeque<Scripted>>,
    /// Answers to stop, by the token of the request.
    holds: Mutex<Vec<(String, Hold)>>,
}

impl State {
    /// Records a request and takes its reply in one step: the nth request gets the nth reply.
    fn record_and_take_reply(&self, request: Recorded) -> Option<Scripted> {
        let mut scripted = self.scripted();
        self.log.record(request);
        scripted.pop_front()
    }

    /// Stops the next answer to a request with this token.
    fn hold(&self, token: &str, hold: Hold) {
        self.holds().push((token.to_owned(), hold));
    }

    /// Takes the place at which the answer to this request stops.
    fn take_hold(&self, request: &Recorded) -> Option<Hold> {
        let mut holds = self.holds();
        let place = holds.iter().position(|(token, _)| request.has_token(token))?;
        Some(holds.remove(place).1)
    }

    fn holds(&self) -> std::sync::MutexGuard<'_, Vec<(String, Hold)>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scripted(&self) -> std::sync::MutexGuard<'_, VecDeque<Scripted>> {
        self.scripted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Scripted {
    reply: Reply,
    exchange: Exchange,
}
