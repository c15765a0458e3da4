//! Pending turns, as far as the process that recorded them sees them.

use antiphon_store::{Destination, StoreError, ThreadId, TurnRecord};

use super::World;
use super::world::items;

pub(crate) async fn own_pending_turn_is_not_settled(world: World) {
    let id = world.conversation(&[]).await;
    let (response, turn) = world.turn(Destination::Conversation(id.clone()), &["a"], &[]);
    world.record_pending(&turn).await;

    assert_eq!(world.store.settle_pending_turns().await, Ok(0));
    assert!(!world.exists(&response).await);
    assert_eq!(world.listed(&id).await, [""; 0]);
}

pub(crate) async fn pending_turn_is_invisible_to_readers(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let (response, mut turn) =
        world.turn(world.destination_after(world.end(&first).await), &["c"], &[]);
    world.record_pending(&turn).await;
    assert!(!world.exists(&response).await);
    assert_eq!(world.held(&["c"]).await, [""; 0]);

    turn.output = items(&["d"]);
    world.commit(turn).await.unwrap();

    assert_eq!(world.transcript(&response).await, ["a", "b", "c", "d"]);
    assert_eq!(world.end(&response).await.thread, world.end(&first).await.thread);
}

pub(crate) async fn pending_turn_keeps_the_items_before_it(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let second = world.after(&first, &["c"], &["d"]).await;
    let (response, turn) =
        world.turn(world.destination_after(world.end(&first).await), &["e"], &[]);
    world.record_pending(&turn).await;

    world.delete_response(&first).await;
    world.delete_response(&second).await;
    assert_eq!(world.held(&["a", "b", "c", "d"]).await, ["a", "b"]);
    world.commit(turn).await.unwrap();

    assert_eq!(world.transcript(&response).await, ["a", "b", "e"]);
}

pub(crate) async fn dropped_pending_turn_frees_its_items(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let (response, turn) =
        world.turn(world.destination_after(world.end(&first).await), &["c"], &[]);
    world.record_pending(&turn).await;
    world.record_pending(&turn).await;
    world.delete_response(&first).await;
    assert_eq!(world.held(&["a", "b"]).await, ["a", "b"]);

    let dropped = world.store.drop_pending_turn(&world.tenant, &response).await;

    assert_eq!(dropped, Ok(()));
    assert_eq!(world.held(&["a", "b", "c"]).await, [""; 0]);
    assert!(!world.exists(&response).await);
}

pub(crate) async fn turn_committed_elsewhere_frees_the_items_before_it(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let (response, pending) =
        world.turn(world.destination_after(world.end(&first).await), &["c"], &[]);
    world.record_pending(&pending).await;
    world.delete_response(&first).await;

    let shard = response.shard();
    let destination = Destination::New { shard, thread: ThreadId(7) };
    world.commit(TurnRecord { destination, ..pending }).await.unwrap();

    assert_eq!(world.transcript(&response).await, ["c"]);
    assert_eq!(world.held(&["a", "b", "c"]).await, ["c"]);
}

pub(crate) async fn pending_turn_requires_response_without_output(world: World) {
    let id = world.conversation(&[]).await;
    let (_, turn) = world.turn(Destination::Conversation(id), &["a"], &["b"]);
    let mut unnamed = turn.clone();
    unnamed.response = None;
    unnamed.output.clear();

    for impossible in [turn, unnamed] {
        let refusal = world.store.record_pending_turn(&world.tenant, impossible).await;
        assert!(matches!(refusal, Err(StoreError::Unavailable(_))));
    }
}
