//! The connections: how they are made, and how many there are.

use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Metrics, PoolError, RecycleError, RecycleResult, TimeoutType};
use tokio_postgres::{Client, Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::{Failure, describe};
use super::session::Session;
use crate::error::StoreError;

/// How long a call waits for a connection to be free, and for one to be made.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection that is returned when it is let go.
pub(super) type Borrowed = managed::Object<Connector>;

/// Makes connections.
#[derive(Clone)]
pub(super) struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    /// The name that this process has in the database.
    holder: String,
}

impl Connector {
    pub(super) fn new(config: Config, tls: MakeRustlsConnect) -> Self {
        Self { config, tls, holder: String::new() }
    }

    /// What makes the connections of the process `holder`.
    pub(super) fn of(self, holder: String) -> Self {
        Self { holder, ..self }
    }

    /// A connection to a database that may have no tables yet.
    pub(super) async fn connect(&self) -> Result<Client, Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = %describe(&error), "a connection to PostgreSQL ended");
            }
        });
        Ok(client)
    }

    /// A connection with its statements.
    pub(super) async fn session(&self) -> Result<Session, Error> {
        Session::prepare(self.connect().await?, self.holder.clone()).await
    }
}

impl managed::Manager for Connector {
    type Type = Session;
    type Error = Error;

    async fn create(&self) -> Result<Session, Error> {
        self.session().await
    }

    /// Whether a connection still works shows when it is used: what was lost is done again then.
    async fn recycle(&self, session: &mut Session, _: &Metrics) -> RecycleResult<Error> {
        match session.is_closed() {
            true => Err(RecycleError::message("the connection is closed")),
            false => Ok(()),
        }
    }
}

/// A bounded number of connections.
#[derive(Clone)]
pub(super) struct Pool(managed::Pool<Connector>);

impl Pool {
    pub(super) fn new(connector: Connector, max: usize) -> Self {
        let pool = managed::Pool::builder(connector)
            .max_size(max)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .build()
            .expect("a runtime is given for the time-outs");
        Self(pool)
    }

    /// A connection that nobody else uses.
    pub(super) async fn borrow(&self) -> Result<Borrowed, Failure> {
        self.0.get().await.map_err(|error| match error {
            PoolError::Backend(error) => Failure::Database(error),
            PoolError::Timeout(TimeoutType::Wait) => unavailable(format!(
                "all connections to PostgreSQL are in use (pool_max={})",
                self.0.status().max_size
            )),
            PoolError::Timeout(_) => unavailable("PostgreSQL did not answer in time".into()),
            PoolError::Closed => unavailable("the store is closed".into()),
            other => unavailable(other.to_string()),
        })
    }

    /// Closes the connections that nobody uses, and each other one when it is let go.
    pub(super) fn close(&self) {
        self.0.close();
    }
}

fn unavailable(reason: String) -> Failure {
    Failure::Refused(StoreError::Unavailable(reason))
}
