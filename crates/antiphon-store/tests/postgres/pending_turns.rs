//! What a process left open, as others find it.

use antiphon_store::{Cursor, Destination, StoreError};
use antiphon_testkit::postgres::Server;

use super::database::{Database, Process};
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

#[tokio::test]
async fn dropped_turn_stays_dropped_after_a_server_crash() {
    let mut server = Server::start().await;
    let one = Database::on(&server).await.process().await;
    let (response, turn) = one.world.turn(destination(&one), &["a"], &[]);
    one.world.record_pending(&turn).await;
    assert_eq!(one.world.store.check_writable().await, Ok(()), "the record is on the disk");

    one.world.store.drop_pending_turn(&one.world.tenant, &response).await.unwrap();
    server.kill().await;
    server.start_again().await;

    let open = one.database.sql("SELECT id FROM pending_turns").await;
    assert_eq!(open, [""; 0]);
}

#[tokio::test]
async fn late_record_of_an_ended_turn_is_deleted() {
    let one = Database::new().await.process().await;
    let other = one.beside().await;
    let (dropped, turn) = one.world.turn(destination(&one), &["a"], &[]);
    one.world.record_pending(&turn).await;
    let (committed, turn) = one.world.turn(destination(&one), &["b"], &[]);
    one.world.record_pending(&turn).await;
    let (open, still) = one.world.turn(destination(&one), &["c"], &[]);
    one.world.record_pending(&still).await;
    one.database.sql("CREATE TABLE late AS SELECT * FROM pending_turns").await;
    one.world.store.drop_pending_turn(&one.world.tenant, &dropped).await.unwrap();
    one.world.commit(turn).await.unwrap();

    // The server executes statements of lost connections only now.
    one.database.sql("INSERT INTO pending_turns SELECT * FROM late ON CONFLICT DO NOTHING").await;

    for ended in [&dropped, &committed] {
        assert_eq!(one.world.store.is_open(&one.world.tenant, ended).await, Ok(false));
    }
    assert_eq!(one.world.store.settle_pending_turns().await, Ok(0));
    let left = one.database.sql("SELECT id FROM pending_turns").await;
    assert_eq!(left, [open.as_str()]);
    assert_eq!(other.world.store.is_open(&other.world.tenant, &dropped).await, Ok(false));
    assert_eq!(one.world.input(&committed).await, ["b"]);
}

fn destination(process: &Process) -> Destination {
    Destination::New { shard: process.world.shard(), thread: process.world.thread() }
}
