//! The heartbeat of this process.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::abandoned_places::AbandonedPlaces;
use super::failure::{Failure, describe};
use super::holders;
use super::pool::Connector;
use super::session::Session;
use crate::error::StoreError;

/// A third of the lease.
const PERIOD: Duration = Duration::from_secs(5);
/// The time for one heartbeat, with a new connection.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The pause after a failure: the lease has time for several attempts.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Reports in the database that this process lives, until it is dropped.
///
/// It has a connection of its own, so that a process that uses all its other connections is not
/// presumed dead.
pub(super) struct Heartbeat {
    beating: JoinHandle<()>,
    abandoned: Arc<AbandonedPlaces>,
}

impl Heartbeat {
    /// Sends the first heartbeat, then one per period, or more after a failure.
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
        // The first heartbeat was already sent.
        let mut pause = PERIOD;
        loop {
            sleep(pause).await;
            let outcome = timeout(TIMEOUT, self.send_once()).await;
            pause = match outcome.unwrap_or_else(|_| Err("no answer in time".into())) {
                Ok(()) => PERIOD,
                Err(reason) => {
                    self.session = None;
                    tracing::warn!(
                        %reason,
                        "could not send the heartbeat to PostgreSQL; after 15 seconds without \
                         one, other processes take over the turns of this one",
                    );
                    RETRY_PAUSE
                }
            };
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
