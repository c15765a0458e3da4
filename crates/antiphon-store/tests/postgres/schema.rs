//! Which databases are taken, and what becomes of them.

use antiphon_store::{PostgresStore, Store};
use futures_util::future::join_all;

use super::database::Database;
use crate::conformance::World;

async fn refusal(database: &Database) -> String {
    match PostgresStore::open(&database.store_url()).await {
        Ok(_) => panic!("it is taken"),
        Err(refusal) => refusal.to_string(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_opens_create_tables_once() {
    let database = Database::new().await;
    let url = database.store_url();

    let opened = join_all((0..8).map(|_| PostgresStore::open(&url))).await;

    let stores: Vec<PostgresStore> = opened.into_iter().map(Result::unwrap).collect();
    assert_eq!(database.sql("SELECT version FROM antiphon_schema").await, ["12"]);
    assert_eq!(database.holders().await.len(), stores.len());
    for store in stores {
        store.close().await;
    }
}

#[tokio::test]
async fn newer_tables_are_rejected_unchanged() {
    let database = Database::new().await;
    database.process().await.world.store.close().await;
    database.sql("UPDATE antiphon_schema SET version = 1000").await;

    let refusal = refusal(&database).await;

    assert!(refusal.contains("newer version of Antiphon (version 1000"), "{refusal}");
    assert!(refusal.contains("Start the release that wrote it"), "{refusal}");
    assert_eq!(database.sql("SELECT version FROM antiphon_schema").await, ["1000"]);
}

#[tokio::test]
async fn foreign_tables_are_rejected_unchanged() {
    let database = Database::new().await;
    database.sql("CREATE TABLE notes (text text)").await;

    let refusal = refusal(&database).await;

    assert!(refusal.contains("schema public holds another application's tables"), "{refusal}");
    let tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(database.sql(tables).await, ["notes"]);
}

#[tokio::test]
async fn each_schema_is_a_separate_store() {
    let database = Database::new().await;
    database.sql("CREATE SCHEMA one; CREATE SCHEMA other").await;
    let [one, other] =
        ["one", "other"].map(|schema| database.with(&format!("options=-csearch_path%3D{schema}")));
    let (one, other) = (World::at(one).await, World::at(other).await);

    one.conversation(&["a"]).await;
    let found = other.held(&["a"]).await;

    assert_eq!(found, [""; 0]);
    assert_eq!(one.held(&["a"]).await, ["a"]);
}

#[tokio::test]
async fn missing_schema_is_not_created() {
    let database = Database::new().await.with("options=-csearch_path%3Dmissing");

    let refusal = refusal(&database).await;

    assert!(refusal.contains("no schema of the search_path exists"), "{refusal}");
}
