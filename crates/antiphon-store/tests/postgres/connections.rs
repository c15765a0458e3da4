//! Connections that are all in use, and connections that are lost.

use std::collections::BTreeSet;
use std::sync::Arc;

use antiphon_store::{Destination, PostgresStore, StoreError};
use antiphon_testkit::postgres::Server;
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use super::database::Database;
use crate::conformance::World;

#[tokio::test]
async fn exhausted_pool_is_named_in_the_error() {
    let database = Database::new().await;
    let world = World::at(database.with("pool_max=1")).await;
    let id = world.conversation(&["a"]).await;
    let (client, connection) = tokio_postgres::connect(&database.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; LOCK TABLE threads").await.unwrap();

    let (held_up, refused) = tokio::join!(world.append(&id, &["b"]), async {
        let refused = world.append(&id, &["c"]).await;
        client.batch_execute("COMMIT").await.unwrap();
        refused
    });

    assert_eq!(held_up, Ok(()));
    let Err(StoreError::Unavailable(reason)) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("all connections to PostgreSQL are in use (pool_max=1)"), "{reason}");
    assert_eq!(world.listed(&id).await, ["a", "b"]);
}

#[tokio::test]
async fn restarted_server_is_used_again() {
    let mut server = Server::start().await;
    let world = World::at(Database::on(&server).await).await;
    let id = world.conversation(&["a"]).await;

    server.restart().await;

    assert_eq!(world.listed(&id).await, ["a"]);
    server.restart().await;
    assert_eq!(world.append(&id, &["b"]).await, Ok(()));
    server.restart().await;
    let (response, turn) = world.turn(Destination::Conversation(id.clone()), &["c"], &["d"]);
    assert_eq!(world.commit(turn).await, Ok(()));
    assert_eq!(world.transcript(&response).await, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn read_only_database_fails_the_write_check() {
    let database = Database::new().await;
    let world = World::at(database.clone()).await;
    assert_eq!(world.store.check_writable().await, Ok(()));

    // As after a failover that left this gateway at a standby.
    database
        .sql(
            "DO $$ BEGIN
                 EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on',
                                current_database());
                 PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid();
             END $$",
        )
        .await;

    let refused = world.store.check_writable().await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
}

#[tokio::test]
async fn stopped_server_rejects_calls() {
    let mut server = Server::start().await;
    let world = World::at(Database::on(&server).await).await;
    let id = world.conversation(&["a"]).await;

    server.stop().await;

    assert!(matches!(world.append(&id, &["b"]).await, Err(StoreError::Unavailable(_))));
    server.start_again().await;
    assert_eq!(world.append(&id, &["c"]).await, Ok(()));
    assert_eq!(world.listed(&id).await, ["a", "c"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_crash_keeps_each_acknowledged_turn_once() {
    let mut server = Server::start().await;
    let world = World::at(Database::on(&server).await).await;
    let id = world.conversation(&[]).await;
    let (answered, mut first_answers) = tokio::sync::mpsc::channel(64);
    let mut tasks = JoinSet::new();
    for task in 0..8 {
        let (world, id, answered) = (world.clone(), id.clone(), answered.clone());
        tasks.spawn(async move {
            let mut subject = Vec::new();
            for turn in 0..25 {
                let name = format!("{task}-{turn}");
                match world.append(&id, &[&name]).await {
                    Ok(()) => subject.push(name),
                    Err(StoreError::Unavailable(_)) => {}
                    Err(other) => panic!("{name}: {other}"),
                }
                let _ = answered.try_send(());
            }
            subject
        });
    }
    for _ in 0..16 {
        first_answers.recv().await.unwrap();
    }

    server.kill().await;
    server.start_again().await;

    let subject: BTreeSet<String> = tasks.join_all().await.into_iter().flatten().collect();
    let listed = world.listed(&id).await;
    let found: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(found.len(), listed.len(), "each once");
    assert_eq!(subject.difference(&found).next(), None, "what was answered is there");
}

#[tokio::test]
async fn call_completes_without_its_caller() {
    let database = Database::new().await;
    let world = World::at(database.clone()).await;
    let id = world.conversation(&["a"]).await;

    tokio::select! {
        biased;
        _ = world.append(&id, &["b"]) => unreachable!("no server answers at once"),
        () = std::future::ready(()) => {}
    }
    let store = Arc::clone(&world.store);
    store.close().await;

    let again = PostgresStore::open(&database.store_url()).await.unwrap();
    let mut world = world;
    world.store = Arc::new(again);
    assert_eq!(world.listed(&id).await, ["a", "b"]);
}
