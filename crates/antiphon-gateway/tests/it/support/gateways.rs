//! One gateway on a store of its own, in front of whatever its settings name.

use antiphon_gateway::settings::Settings;

use super::client::Client;
use super::gateway::Threads;
use super::place::Place;
use super::replica::Replica;
use super::roots::Roots;

/// A gateway and its store, without an upstream of its own.
pub(crate) struct Gateways {
    settings: Settings,
    place: Place,
    replica: Option<Replica>,
    roots: Roots,
}

impl Gateways {
    /// Starts it on a store with nothing in it.
    pub(crate) async fn start(settings: Settings) -> Self {
        let place = Place::new(crate::KEPT).await;
        let mut started = Self { settings, place, replica: None, roots: Roots::default() };
        started.start_one().await;
        started
    }

    /// Ends it in the middle of whatever it does, and starts another on its store.
    pub(crate) async fn kill_and_start(&mut self) {
        let replica = self.replica.take().expect("it runs");
        self.roots.remove(replica.gateway.root());
        replica.kill(&self.place).await;
        self.start_one().await;
    }

    /// The same, with settings that differ from now on.
    pub(crate) async fn start_again_with(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        self.kill_and_start().await;
    }

    /// A caller with a token.
    pub(crate) fn client(&self) -> Client {
        self.caller("token-of-alice")
    }

    /// A caller with this token.
    pub(crate) fn caller(&self, token: &str) -> Client {
        Client::new(self.roots.clone(), Some(token.to_owned()))
    }

    async fn start_one(&mut self) {
        let replica = Replica::start(self.settings.clone(), &self.place, Threads::One).await;
        self.roots.add(replica.gateway.root());
        self.replica = Some(replica);
    }
}
