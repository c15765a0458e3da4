//! The fake provider as an HTTP server.

mod connections;
mod delivery;
mod exchange;
mod hold;
mod record;
mod reply;
mod routes;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::Refusal;
use record::Log;

pub use connections::serve;
pub use delivery::{Witness, deliver};
pub use exchange::{Exchange, Outcome};
pub use hold::Hold;
pub use record::Recorded;
pub use reply::Reply;

/// A provider of every [`Api`](crate::Api) on a loopback port that keeps no state between requests.
///
/// It records every request, but for `GET /v1/models`, with the verdict of its API's [judge](crate::judge). A scripted reply is
/// given whatever the verdict is; without one, a refused request gets the provider's error and
/// any other gets the answer of the [default model](crate::recall). The server stops when this is
/// dropped.
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
        let server = tokio::spawn(connections::serve(listener, router));
        Ok(Self { address, state, server })
    }

    /// Where to send requests: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Queues the reply to a coming request: replies are given in the order they were scripted.
    ///
    /// The handle releases what the reply withholds and tells how its delivery went.
    pub fn script(&self, reply: Reply) -> Exchange {
        let exchange = reply.exchange();
        let scripted = Scripted { reply, exchange: exchange.clone() };
        self.state.scripted().push_back(scripted);
        exchange
    }

    /// Whether scripted replies wait for requests.
    pub fn has_scripted(&self) -> bool {
        !self.state.scripted().is_empty()
    }

    /// The requests so far, in the order they came.
    pub fn requests(&self) -> Vec<Recorded> {
        self.state.log.all()
    }

    /// The request number `index`, from 0: waits until it has come.
    pub async fn request(&self, index: usize) -> Recorded {
        self.state.log.nth(index).await
    }

    /// What was refused so far, scripted replies or not: empty if all was well-formed.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.requests().into_iter().filter_map(|request| request.verdict.err()).collect()
    }
}

impl Drop for FakeUpstream {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// What the server shares with the test.
#[derive(Debug, Default)]
struct State {
    log: Log,
    scripted: Mutex<VecDeque<Scripted>>,
    /// By whose request, told by its token, an answer is stopped.
    holds: Mutex<Vec<(String, Hold)>>,
}

impl State {
    /// Records a request and takes its reply, as one step: the nth request gets the nth reply.
    fn take_in(&self, request: Recorded) -> Option<Scripted> {
        let mut scripted = self.scripted();
        self.log.record(request);
        scripted.pop_front()
    }

    /// Stops the next answer to a request with this token.
    fn hold(&self, token: &str, hold: Hold) {
        self.holds().push((token.to_owned(), hold));
    }

    /// Takes where the answer to this request is to stop.
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
