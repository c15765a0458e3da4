//! Opens connections, and limits their number.

use std::time::Duration;

use deadpool::managed::{self, Metrics, PoolError, RecycleError, RecycleResult, TimeoutType};
use deadpool::{Runtime, Status};
use tokio_postgres::{Client, Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::{Failure, describe};
use super::session::Session;
use crate::error::StoreError;
use crate::observer::StoreLoad;

/// The time that a call waits for a free connection, and for a new connection to open.
const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// A connection that returns to the pool when it is dropped.
pub(super) type Borrowed = managed::Object<Connector>;

/// Opens connections.
#[derive(Clone)]
pub(super) struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    /// The name of this process in the database.
    holder: String,
}

impl Connector {
    pub(super) fn new(config: Config, tls: MakeRustlsConnect) -> Self {
        Self { config, tls, holder: String::new() }
    }

    /// Sets the process that the connections belong to.
    pub(super) fn with_holder(self, holder: String) -> Self {
        Self { holder, ..self }
    }

    /// Opens a connection to a database that may have no tables yet.
    pub(super) async fn connect(&self) -> Result<Client, Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = %describe(&error), "a connection to PostgreSQL ended");
            }
        });
        Ok(client)
    }

    /// Opens a connection and prepares its statements.
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

    /// Does not test the connection. If it is broken, its first use fails and is retried.
    async fn recycle(&self, session: &mut Session, _: &Metrics) -> RecycleResult<Error> {
        match session.is_closed() {
            true => Err(RecycleError::message("the connection is closed")),
            false => Ok(()),
        }
    }
}

/// A pool with a limited number of connections.
#[derive(Clone)]
pub(super) struct Pool(managed::Pool<Connector>);

impl Pool {
    pub(super) fn new(connector: Connector, max: usize) -> Self {
        let pool = managed::Pool::builder(connector)
            .max_size(max)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(CONNECT_WAIT))
            .create_timeout(Some(CONNECT_WAIT))
            .build()
            .expect("a runtime is given for the time-outs");
        Self(pool)
    }

    /// Takes a connection for exclusive use.
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

    /// The connections in use, and the calls that wait for one.
    pub(super) fn load(&self) -> StoreLoad {
        let Status { max_size, size, available, waiting } = self.0.status();
        StoreLoad {
            connections_in_use: size.saturating_sub(available),
            max_connections: max_size,
            waiting_calls: waiting,
        }
    }

    /// Closes the idle connections now, and each of the others when it is returned.
    pub(super) fn close(&self) {
        self.0.close();
    }
}

fn unavailable(reason: String) -> Failure {
    Failure::Refused(StoreError::Unavailable(reason))
}
