//! Databases, and the processes that share one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use antiphon_store::{PostgresStore, Store};
use antiphon_testkit::postgres::Server;
use async_trait::async_trait;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::conformance::{StoreLocation, World};

/// An empty database of its own.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) url: String,
    /// How stores open it.
    parameters: String,
}

impl Database {
    pub(crate) async fn new() -> Self {
        Self::on(Server::shared().await).await
    }

    /// A database that has the tables of a store. Copying them takes less time than creating them.
    pub(crate) async fn with_tables() -> Self {
        static ORIGINAL: OnceCell<Database> = OnceCell::const_new();
        let server = Server::shared().await;
        let original = ORIGINAL.get_or_init(|| create_tables(server)).await;
        Self { url: server.copy_database(&original.url).await, ..original.clone() }
    }

    /// A database on a server of which a few hundred connections are to be had.
    pub(crate) async fn on(server: &Server) -> Self {
        Self { url: server.create_database().await, parameters: "pool_max=4".into() }
    }

    /// The same database, opened with other parameters.
    pub(crate) fn with(&self, parameters: &str) -> Self {
        Self { parameters: parameters.into(), ..self.clone() }
    }

    /// The same database, by another URL.
    pub(crate) fn by_way_of(&self, url: &str) -> Self {
        Self { url: url.into(), ..self.clone() }
    }

    /// What names it to a store.
    pub(crate) fn store_url(&self) -> String {
        format!("{}?{}", self.url, self.parameters)
    }

    /// Runs SQL on a connection of its own; gives the first column of what comes back.
    pub(crate) async fn sql(&self, sql: &str) -> Vec<String> {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let answer = client.simple_query(sql).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
        let first = |message: SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        };
        answer.into_iter().filter_map(first).collect()
    }

    /// Lets nobody write to a table, until the client is dropped.
    pub(crate) async fn locked(&self, table: &str) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let lock = format!("BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE");
        client.batch_execute(&lock).await.unwrap();
        client
    }

    /// Waits until somebody waits for a lock of a table.
    pub(crate) async fn waited_for(&self, table: &str) {
        let waiting = format!(
            "SELECT pid FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass"
        );
        let waited = async { while self.sql(&waiting).await.is_empty() {} };
        timeout(Duration::from_secs(30), waited).await.expect("somebody waits");
    }

    /// A process that has the database open, and what it does there.
    pub(crate) async fn process(&self) -> Process {
        let known = self.holders().await;
        let world = World::at(Living(self.clone())).await;
        let holder = self.holders().await.difference(&known).next().unwrap().clone();
        Process { world, holder, database: self.clone() }
    }

    pub(crate) async fn holders(&self) -> BTreeSet<String> {
        let created = self.sql("SELECT to_regclass('holders')").await;
        match created.is_empty() {
            true => BTreeSet::new(),
            false => self.sql("SELECT id FROM holders").await.into_iter().collect(),
        }
    }
}

async fn create_tables(server: &Server) -> Database {
    let database = Database::on(server).await;
    PostgresStore::open(&database.store_url()).await.unwrap().close().await;
    server.wait_for_disconnection(&database.url).await;
    database
}

/// Opened again, the database finds its former processes dead.
#[async_trait]
impl StoreLocation for Database {
    async fn open(&self) -> Arc<dyn Store> {
        for holder in self.holders().await {
            self.sql(&expiry_of(&holder)).await;
        }
        Living(self.clone()).open().await
    }

    fn url(&self) -> Option<String> {
        Some(self.store_url())
    }
}

/// The database, whose processes live.
struct Living(Database);

#[async_trait]
impl StoreLocation for Living {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(PostgresStore::open(&self.0.store_url()).await.unwrap())
    }
}

/// A process by what it does, and by the name that it has in the database.
pub(crate) struct Process {
    pub(crate) world: World,
    pub(crate) holder: String,
    pub(crate) database: Database,
}

impl Process {
    /// Another process of the same database; ids that the two issue differ.
    pub(crate) async fn beside(&self) -> Self {
        let Self { world, holder, database } = self.database.process().await;
        let mut same = self.world.clone();
        same.store = world.store;
        Self { world: same, holder, database }
    }

    /// It is not heard of any more, and so is dead for all others. It does not know.
    pub(crate) async fn falls_silent(&self) {
        let Self { holder, database, .. } = self;
        let hush = format!(
            "CREATE FUNCTION hush() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
             CREATE TRIGGER hush BEFORE INSERT OR UPDATE ON holders FOR EACH ROW
             WHEN (NEW.id = '{holder}' AND NEW.expires_at > now()) EXECUTE FUNCTION hush()"
        );
        // In this order, so that no sign of life comes between the two.
        database.sql(&hush).await;
        database.sql(&expiry_of(holder)).await;
    }
}

fn expiry_of(holder: &str) -> String {
    format!("UPDATE holders SET expires_at = now() - interval '1 second' WHERE id = '{holder}'")
}
