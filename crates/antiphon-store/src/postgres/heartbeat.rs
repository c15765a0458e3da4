//! The heartbeat of this process.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::abandoned_places::AbandonedPlaces;
use super::failure::{Failure, describe};
use super::holders;
use super::pool::Connector;
use super::session::Session;
use crate::error::StoreError;

/// A third of the lease.
const PERIOD: Duration = Duration::from_secs(5);

/// Reports in the database that this process lives, until it is dropped.
///
/// It has a connection of its own, so that a process that uses all its other connections is not
/// presumed dead.
pub(super) struct Heartbeat {
    beating: JoinHandle<()>,
    abandoned: Arc<AbandonedPlaces>,
}

impl Heartbeat {
    /// Sends the first heartbeat, then one per period.
    pub(super) async fn start(connector: Connector) -> Result<Self, Failure> {
        let session = connector.session().await?;
        holders::beat(&session, &session.holder).await?;
        let abandoned = Arc::<AbandonedPlaces>::default();
        let task =
            HeartbeatTask { connector, session: Some(session), abandoned: abandoned.clone() };
        Ok(Self { beating: tokio::spawn(task.run()), abandoned })
    }

    /// The queue places to delete with the next heartbeats.
    pub(super) fn abandoned(&self) -> &Arc<AbandonedPlaces> {
        &self.abandoned
    }

    pub(super) fn stop(&self) {
        self.beating.abort();
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.stop();
    }
}

struct HeartbeatTask {
    connector: Connector,
    /// `None` after a failure.
    session: Option<Session>,
    abandoned: Arc<AbandonedPlaces>,
}

impl HeartbeatTask {
    async fn run(mut self) {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick completes immediately, and the first heartbeat was already sent.
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let outcome = timeout(PERIOD, self.send_once()).await;
            if let Err(reason) = outcome.unwrap_or_else(|_| Err("no answer in time".into())) {
                self.session = None;
                tracing::warn!(
                    %reason,
                    "could not send the heartbeat to PostgreSQL; after 15 seconds without one, \
                     other processes take over the turns of this one",
                );
            }
        }
    }

    async fn send_once(&mut self) -> Result<(), String> {
        let session = match self.session.take() {
            Some(session) => session,
            None => self.connector.session().await.map_err(|error| describe(&error))?,
        };
        self.report(&session).await.map_err(|failure| StoreError::from(failure).to_string())?;
        self.session = Some(session);
        Ok(())
    }

    async fn report(&self, session: &Session) -> Result<(), Failure> {
        holders::beat(session, &session.holder).await?;
        let places = self.abandoned.places();
        if !places.is_empty() {
            holders::leave_places(session, &session.holder, &places).await?;
            self.abandoned.record_deletion(&places);
        }
        Ok(())
    }
}
