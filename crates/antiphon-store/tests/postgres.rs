//! PostgreSQL keeps the laws of a store.

#![allow(clippy::unwrap_used)] // Outside of `#[test]` functions too, everything here is a test.

mod conformance;

use std::sync::Arc;

use antiphon_store::{PostgresStore, Store};
use async_trait::async_trait;
use conformance::{Place, World};

/// A database of its own.
struct Database(String);

impl Database {
    async fn new() -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static N: AtomicU64 = AtomicU64::new(0);
        let name = format!("t{}_{}", std::process::id(), N.fetch_add(1, Ordering::Relaxed));
        let (client, connection) = tokio_postgres::connect(
            "postgres://postgres@127.0.0.1:54399/postgres",
            tokio_postgres::NoTls,
        )
        .await
        .unwrap();
        tokio::spawn(connection);
        client.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        Self(format!("postgres://postgres@127.0.0.1:54399/{name}"))
    }

    /// Runs SQL on a connection of its own.
    async fn run(&self, sql: &str) {
        let connected = tokio_postgres::connect(&self.0, tokio_postgres::NoTls).await;
        let (client, connection) = connected.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
    }

    /// Those that had the store open are dead, as they are when they were not heard of for a while.
    async fn bury(&self) {
        self.run("UPDATE holders SET expires_at = now() - interval '1 second'").await;
    }
}

#[async_trait]
impl Place for Database {
    async fn open(&self) -> Arc<dyn Store> {
        let store = PostgresStore::open(&self.0).await.unwrap();
        self.run("UPDATE holders SET expires_at = now() - interval '1 second' WHERE id <> (SELECT id FROM holders ORDER BY expires_at DESC LIMIT 1)").await;
        Arc::new(store)
    }
}

async fn a_database() -> World {
    World::at(Database::new().await).await
}

mod in_a_database {
    use crate::conformance;

    conformance::suite!(crate::a_database);
}

mod again {
    use crate::conformance;

    conformance::durable_suite!(crate::a_database);
}
