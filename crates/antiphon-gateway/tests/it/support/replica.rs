//! One of the gateways of a world.

use antiphon_gateway::settings::Settings;

use super::gateway::{Gateway, Threads};
use super::place::Place;

/// A gateway, and the name under which its database knows it.
pub(super) struct Replica {
    pub(super) gateway: Gateway,
    /// `None` where the store is a file.
    pub(super) holder: Option<String>,
}

impl Replica {
    pub(super) async fn start(settings: Settings, place: &Place, threads: Threads) -> Self {
        let gateway = Gateway::start(settings, place.url(), threads).await;
        let holder = match place.database() {
            Some(database) => Some(database.newcomer().await),
            None => None,
        };
        Self { gateway, holder }
    }

    /// Ends it at once. Its database learns of it as if its time had run out since.
    pub(super) async fn kill(self, place: &Place) {
        self.gateway.kill();
        if let (Some(database), Some(holder)) = (place.database(), &self.holder) {
            database.expire(holder).await;
        }
    }
}
