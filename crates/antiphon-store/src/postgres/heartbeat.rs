//! The sign of life of this process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::failure::{Failure, describe};
use super::holders;
use super::pool::Connector;
use super::session::Session;
use crate::error::StoreError;

/// A third of the lease.
const PERIOD: Duration = Duration::from_secs(5);

/// Says in the database that this process lives, as long as it is not dropped.
///
/// It has a connection of its own, so that a process whose connections are all in use is not taken
/// for dead.
pub(super) struct Heartbeat {
    beating: JoinHandle<()>,
    abandoned: Arc<Abandoned>,
}

impl Heartbeat {
    /// Says so for the first time, then again and again.
    pub(super) async fn start(connector: Connector) -> Result<Self, Failure> {
        let session = connector.session().await?;
        holders::beat(&session, &session.holder).await?;
        let abandoned = Arc::<Abandoned>::default();
        let beat = Beat { connector, session: Some(session), abandoned: abandoned.clone() };
        Ok(Self { beating: tokio::spawn(beat.forever()), abandoned })
    }

    /// Has a place given up with the next beat, as it could not be given up at once: the living hold
    /// up a line.
    pub(super) fn abandon(&self, place: i64) {
        self.abandoned.add(place);
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

struct Beat {
    connector: Connector,
    /// `None` after a failure.
    session: Option<Session>,
    abandoned: Arc<Abandoned>,
}

impl Beat {
    async fn forever(mut self) {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick comes at once, and the first beat was made.
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let outcome = timeout(PERIOD, self.once()).await;
            if let Err(reason) = outcome.unwrap_or_else(|_| Err("no answer in time".into())) {
                self.session = None;
                tracing::warn!(%reason, "PostgreSQL was not told that this process lives");
            }
        }
    }

    async fn once(&mut self) -> Result<(), String> {
        let session = match self.session.take() {
            Some(session) => session,
            None => self.connector.session().await.map_err(|error| describe(&error))?,
        };
        self.tell(&session).await.map_err(|failure| StoreError::from(failure).to_string())?;
        self.session = Some(session);
        Ok(())
    }

    async fn tell(&self, session: &Session) -> Result<(), Failure> {
        holders::beat(session, &session.holder).await?;
        let places = self.abandoned.all();
        if !places.is_empty() {
            holders::leave_places(session, &session.holder, &places).await?;
            self.abandoned.forget(&places);
        }
        Ok(())
    }
}

/// Places in line that are still to be given up. There are no more of them than turns at a time.
#[derive(Default)]
struct Abandoned(Mutex<Vec<i64>>);

impl Abandoned {
    fn add(&self, place: i64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(place);
    }

    fn all(&self) -> Vec<i64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn forget(&self, places: &[i64]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|place| !places.contains(place));
    }
}
