//! Gateways on a store of their own, in front of whatever its settings name.

use antiphon_gateway::settings::Settings;

use super::client::Client;
use super::gateway::Threads;
use super::replica::Replica;
use super::roots::Roots;
use super::test_store::{StoreKind, TestStore};

/// One gateway or several, and their store, without an upstream of their own.
pub(crate) struct Gateways {
    settings: Settings,
    store: TestStore,
    replicas: Vec<Option<Replica>>,
    roots: Roots,
}

impl Gateways {
    /// Starts it on a store with nothing in it.
    pub(crate) async fn start(settings: Settings) -> Self {
        Self::on(TestStore::new(crate::STORE_KIND).await, settings, 1).await
    }

    /// Starts several on one database.
    pub(crate) async fn replicas(settings: Settings, count: usize) -> Self {
        Self::on(TestStore::new(StoreKind::Database).await, settings, count).await
    }

    async fn on(store: TestStore, settings: Settings, count: usize) -> Self {
        let replicas = (0..count).map(|_| None).collect();
        let mut started = Self { settings, store, replicas, roots: Roots::default() };
        for index in 0..count {
            started.start_one(index).await;
        }
        started
    }

    /// Ends it in the middle of whatever it does, and starts another on its store.
    pub(crate) async fn kill_and_start(&mut self) {
        self.kill(0).await;
        self.start_one(0).await;
    }

    /// Ends one in the middle of whatever it does. Its time has run out afterwards.
    pub(crate) async fn kill(&mut self, index: usize) {
        let replica = self.replicas[index].take().expect("it runs");
        self.roots.remove(replica.gateway.root());
        replica.kill(&self.store).await;
    }

    /// The same, with settings that differ from now on.
    pub(crate) async fn start_again_with(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        self.kill_and_start().await;
    }

    /// The bytes of all files of the store, or of the items and copies in the database.
    pub(crate) async fn stored_bytes(&self) -> Vec<u8> {
        self.store.stored_bytes().await
    }

    /// Makes everything in the store older by this number of days.
    pub(crate) async fn age_by_days(&self, days: i64) {
        self.store.age_by_days(days).await;
    }

    /// A caller all of whose requests go to one of them.
    pub(crate) fn client_of(&self, index: usize) -> Client {
        let replica = self.replicas[index].as_ref().expect("it runs");
        Client::at(replica.gateway.root())
    }

    /// A caller with a token. Of several, each request goes to the next.
    pub(crate) fn client(&self) -> Client {
        self.caller("token-of-alice")
    }

    /// A caller with this token.
    pub(crate) fn caller(&self, token: &str) -> Client {
        Client::new(self.roots.clone(), Some(token.to_owned()))
    }

    async fn start_one(&mut self, index: usize) {
        let replica = Replica::start(self.settings.clone(), &self.store, Threads::One).await;
        self.roots.add(replica.gateway.root());
        self.replicas[index] = Some(replica);
    }
}
