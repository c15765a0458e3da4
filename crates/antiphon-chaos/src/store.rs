//! The store of the gateways.

use antiphon_testkit::postgres::{Durability, Server};
use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use tokio::time::sleep;
use tokio_postgres::{Client, NoTls};

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A file, for one gateway
    Sqlite,
    /// A database, for two gateways
    Postgres,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        })
    }
}

/// The number of checks for open turns, and the time between them.
const CHECKS: u32 = 600;
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A store that outlives its gateways.
pub(crate) enum Store {
    /// A file in the gateway's folder.
    File,
    /// A database on its own server.
    Database(Box<Server>, String),
}

impl Store {
    /// Creates an empty store.
    pub(crate) async fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Sqlite => Self::File,
            Kind::Postgres => {
                let server = Server::with_durability(Durability::Synced).await;
                let url = server.create_database().await;
                Self::Database(Box::new(server), url)
            }
        }
    }

    /// The store's URL.
    pub(crate) fn url(&self) -> &str {
        match self {
            Self::File => "sqlite:antiphon.db",
            Self::Database(_, url) => url,
        }
    }

    /// The number of gateways that share the store.
    pub(crate) fn gateways(&self) -> usize {
        match self {
            Self::File => 1,
            Self::Database(..) => 2,
        }
    }

    /// The ids of the gateways in the store; empty if the store supports only one.
    pub(crate) async fn holders(&self) -> anyhow::Result<Vec<String>> {
        let Some(client) = self.client().await? else { return Ok(Vec::new()) };
        let rows = client.query("SELECT id FROM holders", &[]).await;
        // The tables do not exist before the first gateway starts.
        Ok(rows.map(|rows| rows.iter().map(|row| row.get(0)).collect()).unwrap_or_default())
    }

    /// Expires the lease of a dead gateway, so that the others do not have to wait for it.
    pub(crate) async fn expire_lease(&self, holder: &str) -> anyhow::Result<()> {
        if let Some(client) = self.client().await? {
            let sql = "UPDATE holders SET expires_at = now() - interval '1 second' WHERE id = $1";
            client.execute(sql, &[&holder]).await.context("could not expire a lease")?;
        }
        Ok(())
    }

    /// Waits until every announced turn has ended, including those that live gateways complete
    /// without their callers. Fails if a turn does not end in time.
    pub(crate) async fn wait_for_open_turns(&self) -> anyhow::Result<()> {
        let Some(client) = self.client().await? else { return Ok(()) };
        let mut left: Vec<String> = Vec::new();
        for _ in 0..CHECKS {
            let open = client.query("SELECT id FROM pending_turns", &[]).await?;
            if open.is_empty() {
                return Ok(());
            }
            left = open.iter().map(|row| row.get(0)).collect();
            sleep(CHECK_INTERVAL).await;
        }
        bail!("announced turns have not ended: {}", left.join(", "))
    }

    /// Crashes and restarts the server. Returns false if there is none.
    pub(crate) async fn crash(&mut self) -> bool {
        let Self::Database(server, _) = self else { return false };
        server.kill().await;
        server.start_again().await;
        true
    }

    async fn client(&self) -> anyhow::Result<Option<Client>> {
        let Self::Database(_, url) = self else { return Ok(None) };
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        Ok(Some(client))
    }
}
