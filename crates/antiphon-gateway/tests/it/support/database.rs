//! A PostgreSQL database, and the gateways that keep their conversations in it.

use std::collections::BTreeSet;
use std::sync::Mutex;

use antiphon_testkit::postgres::Server;
use tokio::sync::OnceCell;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use super::watchdog::soon;

/// A database of its own.
#[derive(Debug)]
pub(crate) struct Database {
    url: String,
    /// The processes that have used it.
    known: Mutex<BTreeSet<String>>,
}

impl Database {
    /// One that holds nothing, on the server of all tests. It is a copy of one that has its tables.
    pub(super) async fn shared() -> Self {
        static WITH_TABLES: OnceCell<String> = OnceCell::const_new();
        let server = Server::shared().await;
        let with_tables = WITH_TABLES.get_or_init(|| with_tables(server)).await;
        Self::at(server.copy_database(with_tables).await)
    }

    /// An empty one, without tables.
    pub(super) async fn on(server: &Server) -> Self {
        Self::at(server.create_database().await)
    }

    fn at(url: String) -> Self {
        Self { url, known: Mutex::default() }
    }

    /// What names it to a gateway.
    pub(super) fn store_url(&self) -> String {
        format!("{}?pool_max=4", self.url)
    }

    /// Runs SQL on a connection of its own; the first column of what comes back.
    pub(crate) async fn sql(&self, sql: &str) -> Vec<String> {
        let (client, connection) =
            tokio_postgres::connect(&self.url, NoTls).await.expect("the database is there");
        let connection = tokio::spawn(connection);
        let answer = soon("the database answers", client.simple_query(sql)).await;
        let answer = answer.expect("the statement is right");
        drop(client);
        connection.await.expect("it does not panic").expect("the connection ends well");
        let first = |message: SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        };
        answer.into_iter().filter_map(first).collect()
    }

    /// The name of the process that has begun to use it since this was last asked.
    pub(super) async fn next_process(&self) -> String {
        let holders = self.sql("SELECT id FROM holders").await;
        let mut known = self.known.lock().expect("no holder panics");
        let newcomer = holders.into_iter().find(|holder| known.insert(holder.clone()));
        newcomer.expect("a process has begun to use it")
    }

    /// Waits until so many places of its lines are taken.
    pub(super) async fn wait_for_queue_length(&self, count: usize) {
        let waiting = async { while self.sql("SELECT place FROM leases").await.len() != count {} };
        soon("places in line are taken", waiting).await;
    }

    /// The time of a process runs out; nobody waits for it.
    pub(super) async fn expire(&self, holder: &str) {
        self.sql(&format!(
            "UPDATE holders SET expires_at = now() - interval '1 second' WHERE id = '{holder}'"
        ))
        .await;
    }

    /// Drops the heartbeats of a living process until [`Self::allow_heartbeats`].
    pub(super) async fn block_heartbeats(&self, holder: &str) {
        self.sql(&format!(
            "CREATE OR REPLACE FUNCTION hush() RETURNS trigger LANGUAGE plpgsql
                 AS 'BEGIN RETURN NULL; END';
             CREATE TRIGGER hush BEFORE INSERT OR UPDATE ON holders FOR EACH ROW
             WHEN (NEW.id = '{holder}' AND NEW.expires_at > now()) EXECUTE FUNCTION hush()"
        ))
        .await;
        self.expire(holder).await;
    }

    /// Accepts the heartbeats of all processes again.
    pub(super) async fn allow_heartbeats(&self) {
        self.sql("DROP TRIGGER hush ON holders").await;
    }
}

async fn with_tables(server: &Server) -> String {
    let url = server.create_database().await;
    let store = antiphon_store::open(&url).await.expect("the store opens");
    store.close().await;
    server.wait_for_disconnection(&url).await;
    url
}
