//! One gateway in front of one strict upstream.

use antiphon_gateway::settings::{Retries, Settings, UpstreamSettings};
use antiphon_testkit::{Exchange, FakeUpstream, Outcome, Recorded, Reply};
use tempfile::TempDir;

use super::client::Client;
use super::gateway::{Gateway, Stopping, Threads};
use super::raw::Raw;
use super::view::lines;
use super::watchdog::soon;

/// A gateway with a store in a file, and the upstream that it asks.
pub(crate) struct World {
    pub(crate) upstream: FakeUpstream,
    settings: Settings,
    threads: Threads,
    gateway: Option<Gateway>,
    folder: TempDir,
}

/// How it is set up.
impl World {
    /// A gateway with the usual settings.
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// A gateway that runs turns in parallel.
    pub(crate) async fn parallel() -> Self {
        Self::set_up(Threads::Several, |_| {}).await
    }

    /// A gateway with settings that differ from the usual ones.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        Self::set_up(Threads::One, change).await
    }

    async fn set_up(threads: Threads, change: impl FnOnce(&mut Settings)) -> Self {
        let upstream = FakeUpstream::start().await;
        let url = upstream.base_url().parse().expect("it is a URL");
        // A scripted reply is one request's: only tests of retries have them.
        let asked_once =
            UpstreamSettings { retries: Retries::none(), ..UpstreamSettings::new(url, None) };
        let mut settings = Settings { upstreams: vec![asked_once], ..Settings::default() };
        change(&mut settings);
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut world = Self { upstream, settings, threads, gateway: None, folder };
        world.start().await;
        world
    }

    /// Starts a gateway on the store that the last one left.
    pub(crate) async fn start(&mut self) {
        let store = self.folder.path().join("antiphon.db");
        self.gateway = Some(Gateway::start(self.settings.clone(), &store, self.threads).await);
    }

    /// Ends the gateway in the middle of whatever it does, and starts another on its store.
    pub(crate) async fn kill_and_start(&mut self) {
        assert_eq!(self.threads, Threads::One, "several threads do not end at once");
        self.gateway.take().expect("it runs").kill();
        self.start().await;
    }

    /// Asks the gateway to stop.
    pub(crate) fn stop(&mut self) -> Stopping {
        self.gateway.take().expect("it runs").stop()
    }

    /// A caller with a token.
    pub(crate) fn client(&self) -> Client {
        self.caller("token-of-alice")
    }

    /// A caller with this token.
    pub(crate) fn caller(&self, token: &str) -> Client {
        Client::new(self.root(), Some(token.to_owned()))
    }

    /// A caller without a token.
    pub(crate) fn nobody(&self) -> Client {
        Client::new(self.root(), None)
    }

    /// A connection of which the test says every byte.
    pub(crate) async fn connect(&self) -> Raw {
        Raw::connect(self.root()).await
    }

    fn root(&self) -> &str {
        self.gateway.as_ref().expect("it runs").root()
    }
}

/// What the upstream is told to do, and what came to it.
impl World {
    /// Queues the upstream's reply to a coming request.
    pub(crate) fn script(&self, reply: Reply) -> Exchange {
        self.upstream.script(reply)
    }

    /// Waits for the upstream's request number `index`, from 0.
    pub(crate) async fn request(&self, index: usize) -> Recorded {
        soon("the upstream is asked", self.upstream.request(index)).await
    }

    /// Waits for the request number `index`, which a provider must accept, and tells what the model
    /// was given.
    pub(crate) async fn view(&self, index: usize) -> Vec<String> {
        let request = self.request(index).await;
        assert_eq!(request.verdict, Ok(()), "a provider accepts {}", request.body);
        lines(&request.items())
    }

    /// What the model was given with the latest request, which a provider must accept.
    pub(crate) async fn last_view(&self) -> Vec<String> {
        let asked = self.times_asked();
        assert!(asked > 0, "the upstream was asked");
        self.view(asked - 1).await
    }

    /// The latest request.
    pub(crate) fn last_request(&self) -> Recorded {
        let requests = self.upstream.requests();
        requests.last().expect("the upstream was asked").clone()
    }

    /// How often the upstream was asked so far.
    pub(crate) fn times_asked(&self) -> usize {
        self.upstream.requests().len()
    }

    /// Waits until the gateway has left the upstream in the middle of its answer.
    pub(crate) async fn left(&self, exchange: &Exchange) {
        soon("the upstream is left", exchange.disconnected()).await;
    }

    /// Waits until the upstream's answer was heard to its end.
    pub(crate) async fn heard(&self, exchange: &Exchange) {
        let outcome = soon("the answer is heard to its end", exchange.outcome()).await;
        assert_eq!(outcome, Outcome::Delivered);
    }
}
