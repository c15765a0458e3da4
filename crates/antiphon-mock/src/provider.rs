//! The provider's server and its handle for tests.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use http::Method;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::account::Account;
use crate::world::{Detour, Shared};
use crate::{
    Duplicate, Exchange, Hold, OnAbort, Options, Recorded, Refusal, Reply, Script, routes, serve,
};

/// A stateful provider on a port of its own. Dropping it stops the server.
///
/// Besides the provider's API it has control routes for tests in other languages:
///
/// - `GET /log?token=X`: the logged requests, of that token or of all tokens;
/// - `POST /hold?token=X&at=PLACE`: stops the next streamed answer to a request with that token at
///   a [`Hold`];
/// - `POST /on-abort?outcome=part|whole|nothing`: sets the outcome of turns whose callers
///   disconnect from now on;
/// - `POST /lose?response=ID`: deletes a response.
///
/// A token that begins with `sk-wrong` is an invalid key.
#[derive(Debug)]
pub struct StrictProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

/// A configured provider that has no address yet.
#[derive(Debug)]
pub struct Unbound(Options);

impl Unbound {
    /// Starts on the given address; port 0 picks a free one.
    pub async fn bind(self, address: SocketAddr) -> io::Result<StrictProvider> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(self.0));
        let server = tokio::spawn(serve(listener, routes::router(Arc::clone(&shared))));
        Ok(StrictProvider { address, shared, server })
    }

    /// Starts on a free loopback port.
    ///
    /// # Panics
    /// When the machine has no free loopback port.
    pub async fn start(self) -> StrictProvider {
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        self.bind(loopback).await.expect("a loopback port is free")
    }
}

/// Starting.
impl StrictProvider {
    /// Starts OpenAI on a free loopback port.
    ///
    /// # Panics
    /// When the machine has no free loopback port.
    pub async fn start() -> Self {
        Self::with_options(Options::default()).start().await
    }

    /// Configures a provider; `start` or `bind` starts it.
    pub fn with_options(options: Options) -> Unbound {
        Unbound(options)
    }

    /// The base URL of requests: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Controlling.
impl StrictProvider {
    /// Queues the answer to a coming turn: the next turn that is not refused gets it.
    ///
    /// The handle releases withheld events, breaks the connection, and reports the delivery.
    pub fn script(&self, script: impl Into<Script>) -> Exchange {
        let script = script.into();
        let exchange = script.exchange();
        self.shared.world().scripts.push_back((script, exchange.clone()));
        exchange
    }

    /// Stops the next streamed answer to a request with this token until the peer disconnects.
    pub fn hold(&self, token: &str, hold: Hold) {
        self.shared.world().hold(token, hold);
    }

    /// Sends this reply to the next request with this method whose path ends with `path_end`. The
    /// request has no other effect.
    pub fn reply_instead(&self, method: Method, path_end: &str, reply: Reply) {
        let detour = Detour { method, path_end: path_end.to_owned(), reply };
        self.shared.world().detours.push(detour);
    }

    /// Sets the outcome of turns whose callers disconnect from now on.
    pub fn set_on_abort(&self, on_abort: OnAbort) {
        self.shared.world().on_abort = on_abort;
    }

    /// Deletes a response, as a provider does when it expires. Responses that continue it keep
    /// their context. Returns false if the id does not exist.
    pub fn delete_response(&self, response: &str) -> bool {
        self.shared.world().delete_response(response)
    }
}

/// Inspecting.
impl StrictProvider {
    /// The logged requests, oldest first.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.log.all()
    }

    /// The logged requests for turns, refused or not.
    pub fn turns(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(Recorded::is_turn).collect()
    }

    /// Waits until the log holds more than `index` requests, then returns the one at `index`.
    pub async fn request(&self, index: usize) -> Recorded {
        self.shared.log.nth(index).await
    }

    /// Waits until no turn is open, for example after a caller has disconnected.
    pub async fn wait_until_idle(&self) {
        self.shared.wait_until_idle().await;
    }

    /// All refusals so far; empty if every request was valid.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.requests().into_iter().filter_map(|request| request.verdict.err()).collect()
    }

    /// All duplicates in model inputs so far.
    pub fn duplicates(&self) -> Vec<Duplicate> {
        self.requests().iter().flat_map(Recorded::duplicates).collect()
    }

    /// The items of a conversation of any account; `None` if it does not exist.
    pub fn conversation_items(&self, id: &str) -> Option<Vec<Value>> {
        let world = self.shared.world();
        let conversation =
            world.accounts.iter().find_map(|account| account.conversation(id).ok())?;
        Some(conversation.items().iter().map(|item| item.value().clone()).collect())
    }

    /// A stored response of any account, as its `GET` returns it.
    pub fn response(&self, id: &str) -> Option<Value> {
        let world = self.shared.world();
        let stored = world.accounts.iter().find_map(|account| account.response(id).ok())?;
        Some(stored.object.clone())
    }

    /// The ids of all stored responses.
    pub fn response_ids(&self) -> Vec<String> {
        let world = self.shared.world();
        world.accounts.iter().flat_map(Account::response_ids).map(str::to_owned).collect()
    }
}

impl Drop for StrictProvider {
    fn drop(&mut self) {
        self.server.abort();
    }
}
