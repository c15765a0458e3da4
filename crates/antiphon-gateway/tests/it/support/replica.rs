//! One of the gateways of a world.

use antiphon_gateway::settings::Settings;

use super::gateway::{Gateway, Threads};
use super::test_store::TestStore;

/// A gateway, and the name under which its database knows it.
pub(super) struct Replica {
    pub(super) gateway: Gateway,
    /// `None` where the store is a file.
    pub(super) holder: Option<String>,
}

impl Replica {
    pub(super) async fn start(settings: Settings, store: &TestStore, threads: Threads) -> Self {
        let gateway = Gateway::start(settings, store.url(), threads).await;
        let holder = match store.database() {
            Some(database) => Some(database.next_process().await),
            None => None,
        };
        Self { gateway, holder }
    }

    /// Ends it at once. Its database learns of it as if its time had run out since.
    pub(super) async fn kill(self, store: &TestStore) {
        self.gateway.kill();
        if let (Some(database), Some(holder)) = (store.database(), &self.holder) {
            database.expire(holder).await;
        }
    }
}
