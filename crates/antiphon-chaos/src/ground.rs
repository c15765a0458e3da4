//! What the gateways keep their state in.

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
    /// A file, for one gateway.
    Sqlite,
    /// A database, for two gateways.
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

/// How often it is looked whether all turns have ended, and how long after one another.
const LOOKS: u32 = 600;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A store that outlives its gateways.
pub(crate) enum Ground {
    /// A file in the gateway's folder.
    File,
    /// A database on a server of its own.
    Database(Box<Server>, String),
}

impl Ground {
    /// An empty store.
    pub(crate) async fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Sqlite => Self::File,
            Kind::Postgres => {
                let server = Server::with(Durability::Synced).await;
                let url = server.database().await;
                Self::Database(Box::new(server), url)
            }
        }
    }

    /// Its URL.
    pub(crate) fn url(&self) -> &str {
        match self {
            Self::File => "sqlite:antiphon.db",
            Self::Database(_, url) => url,
        }
    }

    /// How many gateways share it.
    pub(crate) fn gateways(&self) -> usize {
        match self {
            Self::File => 1,
            Self::Database(..) => 2,
        }
    }

    /// The gateways that it knows; none where it knows of one at most.
    pub(crate) async fn holders(&self) -> anyhow::Result<Vec<String>> {
        let Some(client) = self.client().await? else { return Ok(Vec::new()) };
        let rows = client.query("SELECT id FROM holders", &[]).await;
        // Before the first gateway there are no tables.
        Ok(rows.map(|rows| rows.iter().map(|row| row.get(0)).collect()).unwrap_or_default())
    }

    /// Has the lease of a dead gateway run out, for which the others would have to wait.
    pub(crate) async fn run_out(&self, holder: &str) -> anyhow::Result<()> {
        if let Some(client) = self.client().await? {
            let sql = "UPDATE holders SET expires_at = now() - interval '1 second' WHERE id = $1";
            client.execute(sql, &[&holder]).await.context("a lease cannot run out")?;
        }
        Ok(())
    }

    /// Waits until every turn that was announced has ended, also those that go on without their
    /// callers in gateways that live; fails where one does not.
    pub(crate) async fn all_ended(&self) -> anyhow::Result<()> {
        let Some(client) = self.client().await? else { return Ok(()) };
        let mut left: Vec<String> = Vec::new();
        for _ in 0..LOOKS {
            let open = client.query("SELECT id FROM openings", &[]).await?;
            if open.is_empty() {
                return Ok(());
            }
            left = open.iter().map(|row| row.get(0)).collect();
            sleep(BETWEEN_LOOKS).await;
        }
        bail!("turns that were announced have not ended: {}", left.join(", "))
    }

    /// Crashes the server and starts it again; says whether there is one.
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
