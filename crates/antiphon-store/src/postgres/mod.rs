//! The store that several processes share: a PostgreSQL database.

mod abandoned_places;
mod background;
mod calls;
mod conversations;
mod data_counts;
mod erasure;
mod events;
mod expiry;
mod failure;
mod heartbeat;
mod holders;
mod item_ids;
mod items;
mod jobs;
mod late_binding;
mod lease_queue;
mod ledger_names;
mod ledgers;
mod listing;
mod listings;
mod move_items;
mod named_values;
mod notices;
mod own_turns;
mod pages;
mod pending_turns;
mod pool;
mod queue_places;
mod requests;
mod responses;
mod restore;
mod row;
mod schema;
mod segments;
mod session;
mod settings;
mod shared;
mod snapshot;
mod statements;
mod store;
mod sweep;
mod threads;
mod tls;
mod transaction;
mod turns;
mod watches;

use std::sync::Arc;

use tokio_util::task::TaskTracker;

use crate::error::StoreError;
use crate::observer::Observed;
use failure::{Failure, describe};
use heartbeat::Heartbeat;
use pool::{Connector, Pool};
use settings::Settings;
use shared::Shared;
pub(crate) use snapshot::{PostgresSnapshot, describe_database, inspect};

/// A [`Store`](crate::Store) in a PostgreSQL database (13 or newer), for any number of processes.
///
/// Writes to one tree of forks run one after the other; writes to different trees run in parallel.
/// A call that has begun runs to its end, even if its caller stops waiting. Each process sends
/// heartbeats to the database, whose clock decides. A process without a heartbeat for 15 seconds is
/// dead to all others: they settle its pending turns and skip its places in queues.
pub struct PostgresStore {
    shared: Shared,
    heartbeat: Heartbeat,
    /// The running calls that write.
    calls: TaskTracker,
}

impl PostgresStore {
    /// Opens the database that a `postgres://` URL names. Creates the tables in its current schema,
    /// or migrates those of an earlier version. Fails if the schema is of a newer version, or holds
    /// another application's tables.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let settings = Settings::parse(url).map_err(StoreError::Unavailable)?;
        let tls = tls::connector(&settings.trust).map_err(StoreError::Unavailable)?;
        let connector = Connector::new(settings.config, tls);
        let holder = migrate(&connector).await?;
        let connector = connector.with_holder(holder.clone());
        let heartbeat = Heartbeat::start(connector.clone()).await?;
        let pool = Pool::new(connector, settings.pool_max);
        Ok(Self {
            shared: Shared {
                pool,
                holder,
                own_turns: Arc::default(),
                observed: Observed::default(),
            },
            heartbeat,
            calls: TaskTracker::new(),
        })
    }

    /// Checks that a URL is valid. The error is a sentence that repeats no secret.
    pub(crate) fn check(url: &str) -> Result<(), String> {
        Settings::parse(url).map(drop)
    }

    /// Runs a call to its end, even if its caller stops waiting.
    async fn call<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.check_open()?;
        let ended = self.calls.spawn(work).await;
        ended.unwrap_or_else(|error| Err(StoreError::Unavailable(error.to_string())))
    }

    /// The name of this process in the database.
    fn holder(&self) -> String {
        self.shared.holder.clone()
    }

    fn check_open(&self) -> Result<(), StoreError> {
        match self.calls.is_closed() {
            true => Err(StoreError::Unavailable("the store is closed".into())),
            false => Ok(()),
        }
    }

    /// Gives up the leases of this process, so that no other process waits for them to expire.
    async fn shut(&self) {
        if !self.calls.close() {
            return;
        }
        self.calls.wait().await;
        self.heartbeat.stop();
        let left =
            self.shared.run(&self.shared.holder, |db, holder| Box::pin(holders::leave(db, holder)));
        if let Err(error) = left.await {
            tracing::warn!(
                %error,
                "could not remove this process from PostgreSQL; its leases expire in 15 seconds",
            );
        }
        self.shared.pool.close();
    }
}

/// Migrates the database. Returns a new name for this process in it.
async fn migrate(connector: &Connector) -> Result<String, Failure> {
    let client = connector.connect().await.map_err(|error| {
        StoreError::Unavailable(format!("PostgreSQL cannot be reached: {}", describe(&error)))
    })?;
    schema::migrate(&client).await?;
    Ok(client.query_one("SELECT gen_random_uuid()::text", &[]).await?.get(0))
}
