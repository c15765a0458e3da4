//! The provider as a server, and a test's hold on it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use antiphon_testkit::{Exchange, Hold, Refusal, Reply, serve};
use http::Method;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::account::Account;
use crate::world::{Detour, Shared};
use crate::{OnAbort, Options, Recorded, Script, Twice, routes};

/// A provider that keeps state, on a port of its own. It stops when this is dropped.
///
/// Besides the provider's API it serves, for clients in other languages:
///
/// - `GET /log?token=X`: the requests so far, of that token or of all;
/// - `POST /hold?token=X&at=PLACE`: the next streamed answer to a request with that token stops at
///   a [`Hold`](antiphon_testkit::Hold);
/// - `POST /on-abort?outcome=part|whole|nothing`: what becomes of turns whose callers leave from
///   now on;
/// - `POST /lose?response=ID`: the provider forgets a response.
///
/// A token that begins with `sk-wrong` is no valid key.
#[derive(Debug)]
pub struct StrictProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

/// What is yet to be bound to an address.
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
        Self::with(Options::default()).start().await
    }

    /// A provider that behaves as `options` say, yet to be started.
    pub fn with(options: Options) -> Unbound {
        Unbound(options)
    }

    /// Where to send requests: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// What it is to do.
impl StrictProvider {
    /// Queues the answer to a coming turn: the next turn that is not refused gets it.
    ///
    /// The handle releases what the script withholds, breaks the connection, and tells how the
    /// delivery went.
    pub fn script(&self, script: impl Into<Script>) -> Exchange {
        let script = script.into();
        let exchange = script.exchange();
        self.shared.world().scripts.push_back((script, exchange.clone()));
        exchange
    }

    /// Stops the next streamed answer to a request with this token, until its peer leaves.
    pub fn hold(&self, token: &str, hold: Hold) {
        self.shared.world().hold(token, hold);
    }

    /// Gives this reply to the next request of this method whose path ends so, in place of all else:
    /// nothing is changed by that request.
    pub fn reply_instead(&self, method: Method, path_end: &str, reply: Reply) {
        let detour = Detour { method, path_end: path_end.to_owned(), reply };
        self.shared.world().detours.push(detour);
    }

    /// Decides what becomes of turns whose callers leave from now on.
    pub fn on_abort(&self, on_abort: OnAbort) {
        self.shared.world().on_abort = on_abort;
    }

    /// Forgets a response, as a provider does when it expires. What went on from it keeps its
    /// context. False where there is none of this id.
    pub fn lose(&self, response: &str) -> bool {
        self.shared.world().lose(response)
    }
}

/// What it has seen and has.
impl StrictProvider {
    /// The requests so far, in the order they came: the latest, as many as are kept.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.log.all()
    }

    /// The requests for turns so far, refused or not.
    pub fn turns(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(Recorded::is_turn).collect()
    }

    /// The request number `index`, from 0: waits until it has come.
    pub async fn request(&self, index: usize) -> Recorded {
        self.shared.log.nth(index).await
    }

    /// Waits until no turn is on its way, as after a caller has left.
    pub async fn settled(&self) {
        let mut open = self.shared.open_turns.subscribe();
        open.wait_for(|count| *count == 0).await.expect("the provider holds the sender");
    }

    /// What was refused so far: empty if all was well-formed.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.requests().into_iter().filter_map(|request| request.verdict.err()).collect()
    }

    /// What models were given twice in one request, of all requests so far.
    pub fn items_twice(&self) -> Vec<Twice> {
        self.requests().iter().flat_map(Recorded::twice).collect()
    }

    /// The items of a conversation, whoever's it is; none where there is no such conversation.
    pub fn conversation_items(&self, id: &str) -> Option<Vec<Value>> {
        let world = self.shared.world();
        let conversation = world.accounts().find_map(|account| account.conversation(id).ok())?;
        Some(conversation.items().iter().map(|item| item.value().clone()).collect())
    }

    /// A stored response as its `GET` answers it, whoever's it is.
    pub fn response(&self, id: &str) -> Option<Value> {
        let world = self.shared.world();
        let stored = world.accounts().find_map(|account| account.response(id).ok())?;
        Some(stored.object.clone())
    }

    /// The ids of all stored responses.
    pub fn response_ids(&self) -> Vec<String> {
        let world = self.shared.world();
        world.accounts().flat_map(Account::response_ids).map(str::to_owned).collect()
    }
}

impl Drop for StrictProvider {
    fn drop(&mut self) {
        self.server.abort();
    }
}
