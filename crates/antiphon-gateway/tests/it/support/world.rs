//! Gateways in front of one strict upstream.

use antiphon_gateway::entropy::unix_now;
use antiphon_gateway::settings::{Retries, Settings, UpstreamSettings};
use antiphon_mock::{Exchange, Outcome, Reply};
use antiphon_store::{Listings, Tenant};
use antiphon_testkit::postgres::Server;
use antiphon_testkit::{FakeUpstream, Recorded};

use super::client::Client;
use super::database::Database;
use super::gateway::{Stopping, Threads};
use super::raw::Raw;
use super::replica::Replica;
use super::roots::Roots;
use super::sim::default_settings;
use super::test_store::{StoreKind, TestStore};
use super::view::lines;
use super::watchdog::soon;

/// A gateway with a store, or several with one, and the upstream that they ask.
pub(crate) struct World {
    pub(crate) upstream: FakeUpstream,
    settings: Settings,
    threads: Threads,
    replicas: Vec<Option<Replica>>,
    roots: Roots,
    store: TestStore,
}

/// How it is set up.
impl World {
    /// A gateway with the usual settings.
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// A gateway that runs turns in parallel.
    pub(crate) async fn parallel() -> Self {
        Self::set_up(TestStore::new(crate::STORE_KIND).await, Threads::Several, 1, |_| {}).await
    }

    /// A gateway with settings that differ from the usual ones.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        Self::set_up(TestStore::new(crate::STORE_KIND).await, Threads::One, 1, change).await
    }

    /// Several gateways on one database.
    pub(crate) async fn replicas(count: usize) -> Self {
        Self::replicas_with(count, |_| {}).await
    }

    /// Several gateways on one database, with settings that differ from the usual ones.
    pub(crate) async fn replicas_with(count: usize, change: impl FnOnce(&mut Settings)) -> Self {
        Self::set_up(TestStore::new(StoreKind::Database).await, Threads::One, count, change).await
    }

    /// Several gateways on a database of a certain server.
    pub(crate) async fn replicas_on(server: &Server, count: usize) -> Self {
        Self::replicas_on_with(server, count, |_| {}).await
    }

    /// Several gateways on a database of a certain server, with settings that differ from the usual
    /// ones.
    pub(crate) async fn replicas_on_with(
        server: &Server,
        count: usize,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        Self::set_up(TestStore::on(server).await, Threads::One, count, change).await
    }

    async fn set_up(
        store: TestStore,
        threads: Threads,
        replicas: usize,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let upstream = FakeUpstream::start().await;
        let url = upstream.base_url().parse().expect("it is a URL");
        // A scripted reply is one request's: only tests of retries have them.
        let asked_once =
            UpstreamSettings { retries: Retries::none(), ..UpstreamSettings::new(url, None) };
        let mut settings = Settings { upstreams: vec![asked_once], ..default_settings() };
        change(&mut settings);
        let vacant = (0..replicas).map(|_| None).collect();
        let roots = Roots::default();
        let mut world = Self { upstream, settings, threads, replicas: vacant, roots, store };
        for index in 0..replicas {
            world.start_replica(index).await;
        }
        world
    }

    /// Starts a gateway on the store that the last one left.
    pub(crate) async fn start(&mut self) {
        self.start_replica(0).await;
    }

    /// Ends the gateway in the middle of whatever it does, and starts another on its store.
    pub(crate) async fn kill_and_start(&mut self) {
        self.kill_replica(0).await;
        self.start().await;
    }

    /// Ends the gateway, changes its settings, and starts another on its store.
    pub(crate) async fn restart_with(&mut self, change: impl FnOnce(&mut Settings)) {
        self.kill_replica(0).await;
        change(&mut self.settings);
        self.start().await;
    }

    /// Ends the gateway, lets days pass for all that it has kept, and starts another.
    pub(crate) async fn start_after_days(&mut self, days: i64) {
        self.kill_replica(0).await;
        self.store.age_by_days(days).await;
        self.start().await;
    }

    /// Asks the gateway to stop.
    pub(crate) fn stop(&mut self) -> Stopping {
        self.stop_replica(0)
    }
}

/// Its gateways, by their numbers.
impl World {
    /// Starts one where none runs.
    pub(crate) async fn start_replica(&mut self, index: usize) {
        let replica = Replica::start(self.settings.clone(), &self.store, self.threads).await;
        self.roots.add(replica.gateway.root());
        self.replicas[index] = Some(replica);
    }

    /// Asks one to stop, once no more requests are sent to it.
    pub(crate) fn stop_replica(&mut self, index: usize) -> Stopping {
        self.take_replica(index).gateway.stop()
    }

    /// Ends one in the middle of whatever it does. Its time has run out afterwards.
    pub(crate) async fn kill_replica(&mut self, index: usize) {
        assert_eq!(self.threads, Threads::One, "several threads do not end at once");
        self.take_replica(index).kill(&self.store).await;
    }

    /// Drops the heartbeats of a replica, so that the others declare it dead, until
    /// [`Self::allow_heartbeats`].
    pub(crate) async fn block_heartbeats(&self, index: usize) {
        let holder = self.replica(index).holder.as_ref();
        self.database().block_heartbeats(holder.expect("a database knows it")).await;
    }

    /// Accepts the heartbeats of all replicas again.
    pub(crate) async fn allow_heartbeats(&self) {
        self.database().allow_heartbeats().await;
    }

    /// Waits until so many turns stand in line for conversations, those before whom nobody stands
    /// among them.
    pub(crate) async fn wait_for_queue_length(&self, count: usize) {
        self.database().wait_for_queue_length(count).await;
    }

    /// Erases all that anybody has, as one who comes for it and goes again.
    pub(crate) async fn erase_all_tenants(&self) {
        let url = self.store.url();
        let store = antiphon_store::open(&url).await.expect("the store opens");
        let mut seen = antiphon_store::snapshot(&url).await.expect("the store can be looked at");
        let (now, mut last) = (unix_now() + 1, None);
        while let Some(tenant) = seen.next_tenant(last.as_ref()).await.expect("it can be read") {
            while !store.erase(&tenant, now, 100).await.expect("it is erased").is_nothing() {}
            last = Some(tenant);
        }
        store.close().await;
    }

    /// Lists of what the store holds now, and its only tenant.
    pub(crate) async fn listings(&self) -> (Box<dyn Listings>, Tenant) {
        let (listings, mut tenants) = self.listings_of_tenants().await;
        assert_eq!(tenants.len(), 1, "one tenant has data");
        (listings, tenants.remove(0))
    }

    /// Lists of what the store holds now, and all its tenants.
    pub(crate) async fn listings_of_tenants(&self) -> (Box<dyn Listings>, Vec<Tenant>) {
        let url = self.store.url();
        let mut seen = antiphon_store::snapshot(&url).await.expect("the store can be looked at");
        let mut tenants: Vec<Tenant> = Vec::new();
        while let Some(tenant) = seen.next_tenant(tenants.last()).await.expect("it can be read") {
            tenants.push(tenant);
        }
        (antiphon_store::listings(&url).await.expect("the store can be looked at"), tenants)
    }

    /// The database that they share.
    pub(crate) fn database(&self) -> &Database {
        self.store.database().expect("the store is a database")
    }

    fn replica(&self, index: usize) -> &Replica {
        self.replicas[index].as_ref().expect("it runs")
    }

    fn take_replica(&mut self, index: usize) -> Replica {
        let replica = self.replicas[index].take().expect("it runs");
        self.roots.remove(replica.gateway.root());
        replica
    }
}

/// Who calls.
impl World {
    /// A caller with a token. Of several gateways, each request goes to the next.
    pub(crate) fn client(&self) -> Client {
        self.caller("token-of-alice")
    }

    /// The same caller, all of whose requests go to one gateway.
    pub(crate) fn client_of(&self, index: usize) -> Client {
        let roots = Roots::one(self.replica(index).gateway.root());
        Client::new(roots, Some("token-of-alice".to_owned()))
    }

    /// A caller with this token.
    pub(crate) fn caller(&self, token: &str) -> Client {
        Client::new(self.roots.clone(), Some(token.to_owned()))
    }

    /// A caller without a token.
    pub(crate) fn anonymous_client(&self) -> Client {
        Client::new(self.roots.clone(), None)
    }

    /// Where the next request of a caller goes: `http://127.0.0.1:PORT`.
    pub(crate) fn root(&self) -> String {
        self.roots.next()
    }

    /// A connection of which the test says every byte.
    pub(crate) async fn connect(&self) -> Raw {
        Raw::connect(&self.roots.next()).await
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
    pub(crate) async fn wait_for_disconnect(&self, exchange: &Exchange) {
        soon("the upstream is left", exchange.wait_for_disconnect()).await;
    }

    /// Waits until the upstream's answer was heard to its end. Who has heard its last event may
    /// leave before what stands behind it, so that what was heard is for the test to see.
    pub(crate) async fn wait_until_read(&self, exchange: &Exchange) {
        let outcome = soon("the answer is heard to its end", exchange.wait_for_outcome()).await;
        assert_ne!(outcome, Outcome::Aborted);
    }
}
