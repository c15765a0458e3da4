//! What a process left open, as others find it.

use antiphon_store::{Cursor, Destination, StoreError};

use super::database::Database;
use crate::conformance::world::items;

#[tokio::test]
async fn living_process_keeps_its_pending_turns() {
    let one = Database::new().await.process().await;
    let other = one.beside().await;
    let id = one.world.conversation(&["a"]).await;
    let (response, turn) = one.world.turn(Destination::Conversation(id.clone()), &["b"], &[]);
    one.world.record_pending(&turn).await;

    assert_eq!(other.world.store.settle_pending_turns().await, Ok(0));
    assert_eq!(other.world.store.is_open(&other.world.tenant, &response).await, Ok(true));

    assert_eq!(one.world.commit(turn).await, Ok(()));
    assert_eq!(other.world.store.is_open(&other.world.tenant, &response).await, Ok(false));
    assert_eq!(other.world.listed(&id).await, ["a", "b"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_settling_settles_each_turn_once_in_order() {
    let dead = Database::new().await.process().await;
    let (one, other) = (dead.beside().await, dead.beside().await);
    let id = dead.world.conversation(&[]).await;
    let names: Vec<String> = (0..20).map(|name| name.to_string()).collect();
    for name in &names {
        let (_, turn) = dead.world.turn(Destination::Conversation(id.clone()), &[name], &[]);
        dead.world.record_pending(&turn).await;
    }
    dead.falls_silent().await;

    let settled = tokio::join!(
        one.world.store.settle_pending_turns(),
        other.world.store.settle_pending_turns()
    );

    assert_eq!(settled.0.unwrap() + settled.1.unwrap(), names.len());
    assert_eq!(one.world.listed(&id).await, names);
}

#[tokio::test]
async fn settled_turn_cannot_be_committed_again() {
    let sleeper = Database::new().await.process().await;
    let other = sleeper.beside().await;
    let id = sleeper.world.conversation(&["a"]).await;
    let first = sleeper.world.first(&["a"], &[]).await;
    let destinations = [
        Destination::Conversation(id.clone()),
        Destination::New { shard: sleeper.world.shard(), thread: sleeper.world.thread() },
        sleeper.world.destination_after(sleeper.world.end(&first).await),
        sleeper.world.destination_after(Cursor { end: 0, ..sleeper.world.end(&first).await }),
    ];
    let turns = destinations.map(|destination| sleeper.world.turn(destination, &["b"], &[]));
    for (_, turn) in &turns {
        sleeper.world.record_pending(turn).await;
    }
    sleeper.falls_silent().await;

    for (response, mut turn) in turns {
        assert_eq!(other.world.store.is_open(&other.world.tenant, &response).await, Ok(false));
        turn.output = items(&["c"]);
        assert_eq!(sleeper.world.commit(turn).await, Err(StoreError::LeaseLost));
        assert_eq!(other.world.output(&response).await, [""; 0]);
        assert_eq!(other.world.input(&response).await, ["b"]);
    }
    assert_eq!(other.world.listed(&id).await, ["a", "b"]);
}

#[tokio::test]
async fn dead_process_is_deleted_after_its_turns() {
    let database = Database::new().await;
    let dead = database.process().await;
    let other = dead.beside().await;
    let id = dead.world.conversation(&[]).await;
    dead.world.store.lease_queue().unwrap().join(&dead.world.tenant, &id).await.unwrap();
    let (_, turn) = dead.world.turn(Destination::Conversation(id), &["a"], &[]);
    dead.world.record_pending(&turn).await;
    dead.falls_silent().await;

    assert_eq!(other.world.store.settle_pending_turns().await, Ok(1));

    assert_eq!(database.holders().await, [other.holder].into());
    assert_eq!(database.sql("SELECT holder FROM leases").await, [""; 0]);
}

#[tokio::test]
async fn deleted_process_is_alive_after_its_next_turn() {
    let database = Database::new().await;
    let one = database.process().await;
    let other = one.beside().await;
    database.sql(&format!("DELETE FROM holders WHERE id = '{}'", one.holder)).await;

    let id = one.world.conversation(&[]).await;
    let (response, turn) = one.world.turn(Destination::Conversation(id), &["a"], &[]);
    one.world.record_pending(&turn).await;

    assert_eq!(other.world.store.settle_pending_turns().await, Ok(0));
    assert_eq!(other.world.store.is_open(&other.world.tenant, &response).await, Ok(true));
}

#[tokio::test]
async fn closed_process_is_deleted() {
    let database = Database::new().await;
    let process = database.process().await;

    process.world.store.close().await;

    assert_eq!(database.holders().await, [].into());
}
