//! A PostgreSQL database, and the gateways that keep their conversations in it.

use std::collections::BTreeSet;

use antiphon_testkit::postgres::Server;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use super::watchdog::soon;

/// A database of its own.
#[derive(Debug)]
pub(crate) struct Database {
    url: String,
}

impl Database {
    /// An empty one.
    pub(super) async fn on(server: &Server) -> Self {
        Self { url: server.database().await }
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

    /// The processes that it knows.
    pub(super) async fn holders(&self) -> BTreeSet<String> {
        let created = self.sql("SELECT to_regclass('holders')").await;
        match created.is_empty() {
            true => BTreeSet::new(),
            false => self.sql("SELECT id FROM holders").await.into_iter().collect(),
        }
    }

    /// The time of a process runs out; nobody waits for it.
    pub(super) async fn expire(&self, holder: &str) {
        self.sql(&format!(
            "UPDATE holders SET expires_at = now() - interval '1 second' WHERE id = '{holder}'"
        ))
        .await;
    }

    /// A process is not heard of any more, though it lives, until it is [`Self::heard`] again.
    pub(super) async fn silence(&self, holder: &str) {
        self.sql(&format!(
            "CREATE OR REPLACE FUNCTION hush() RETURNS trigger LANGUAGE plpgsql
                 AS 'BEGIN RETURN NULL; END';
             CREATE TRIGGER hush BEFORE INSERT OR UPDATE ON holders FOR EACH ROW
             WHEN (NEW.id = '{holder}' AND NEW.expires_at > now()) EXECUTE FUNCTION hush()"
        ))
        .await;
        self.expire(holder).await;
    }

    /// Who was silenced is heard again, once it says something.
    pub(super) async fn heard(&self) {
        self.sql("DROP TRIGGER hush ON holders").await;
    }
}
