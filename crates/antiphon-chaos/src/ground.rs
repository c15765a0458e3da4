//! What the gateways keep their state in.

use antiphon_testkit::postgres::{Durability, Server};
use anyhow::Context as _;
use clap::ValueEnum;
use tokio_postgres::{Client, NoTls};

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A file, for one gateway.
    Sqlite,
    /// A database, for two gateways.
    Postgres,
}

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
