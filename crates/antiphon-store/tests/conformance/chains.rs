//! Chains of responses and their forks.

use antiphon_store::{Cursor, Destination, Shard, StoreError, TurnRecord};

use super::World;
use super::world::items;

pub(crate) async fn first_turn_begins_a_thread(world: World) {
    let (shard, thread) = (world.shard(), world.thread());
    let destination = Destination::New { shard, thread };
    let (id, turn) = world.turn(destination, &["a", "b"], &["c"]);
    world.commit(turn.clone()).await.unwrap();

    let record = world.store.response(&world.tenant, &id).await.unwrap();
    let record = record.unwrap();
    assert_eq!(Some(record.response), turn.response);
    assert_eq!((record.input, record.output), (0..2, 2..3));
    assert_eq!(record.cursor, Cursor { shard, thread, end: 3 });
    assert_eq!(world.transcript(&id).await, ["a", "b", "c"]);
    assert_eq!(world.input(&id).await, ["a", "b"]);
    assert_eq!(world.output(&id).await, ["c"]);
}

pub(crate) async fn response_is_committed_once(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let end = world.end(&first).await;
    let conversation = world.conversation(&["c"]).await;
    let destinations = [
        Destination::New { shard: world.shard(), thread: world.thread() },
        world.destination_after(end),
        world.destination_after(end),
        Destination::Conversation(conversation),
    ];
    for destination in destinations {
        let (id, turn) = world.turn(destination, &[], &["d"]);
        world.commit(turn.clone()).await.unwrap();

        let again = TurnRecord { output: items(&["e"]), ..turn };
        assert!(world.commit(again).await.is_err());
        assert_eq!(world.output(&id).await, ["d"]);
    }
}

pub(crate) async fn turn_at_the_tip_appends(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let second = world.after(&first, &["c"], &["d"]).await;

    assert_eq!(world.transcript(&second).await, ["a", "b", "c", "d"]);
    assert_eq!(world.transcript(&first).await, ["a", "b"]);
    let (first, second) = (world.end(&first).await, world.end(&second).await);
    assert_eq!((second.thread, second.end), (first.thread, 4));
}

pub(crate) async fn second_turn_from_one_cursor_forks(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let one = world.after(&first, &["c"], &["d"]).await;
    let other = world.after(&first, &["e"], &["f"]).await;

    assert_eq!(world.transcript(&one).await, ["a", "b", "c", "d"]);
    assert_eq!(world.transcript(&other).await, ["a", "b", "e", "f"]);
    assert_eq!(world.input(&other).await, ["e"]);
    assert_eq!(world.output(&other).await, ["f"]);
    let (one, other) = (world.end(&one).await, world.end(&other).await);
    assert_ne!(one.thread, other.thread);
    assert_eq!((other.shard, other.end), (one.shard, 4));
}

pub(crate) async fn fork_can_be_forked(world: World) {
    let root = world.first(&["a"], &["b"]).await;
    let long = world.after(&root, &["c"], &["d"]).await;
    let fork = world.after(&root, &["e"], &["f"]).await;
    let longer = world.after(&fork, &["g"], &["h"]).await;
    let fork_of_fork = world.after(&fork, &["i"], &["j"]).await;
    let deepest = world.after(&fork_of_fork, &["k"], &["l"]).await;
    let third = world.after(&fork_of_fork, &["m"], &[]).await;

    assert_eq!(world.transcript(&long).await, ["a", "b", "c", "d"]);
    assert_eq!(world.transcript(&longer).await, ["a", "b", "e", "f", "g", "h"]);
    assert_eq!(world.transcript(&deepest).await, ["a", "b", "e", "f", "i", "j", "k", "l"]);
    assert_eq!(world.transcript(&third).await, ["a", "b", "e", "f", "i", "j", "m"]);
    assert_eq!(world.end(&third).await.end, 7);
}

pub(crate) async fn fork_from_the_middle_has_no_later_items(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let second = world.after(&first, &["c"], &["d"]).await;
    world.after(&second, &["e"], &["f"]).await;

    let fork = world.after(&second, &["g"], &["h"]).await;

    assert_eq!(world.transcript(&fork).await, ["a", "b", "c", "d", "g", "h"]);
}

pub(crate) async fn fork_appends_from_its_own_tip(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    world.after(&first, &["c"], &["d"]).await;
    let fork = world.after(&first, &["e"], &["f"]).await;
    let next = world.after(&fork, &["g"], &["h"]).await;

    let (fork, end) = (world.end(&fork).await, world.end(&next).await);
    assert_eq!((end.thread, end.end), (fork.thread, 6));
    assert_eq!(world.transcript(&next).await, ["a", "b", "e", "f", "g", "h"]);
}

pub(crate) async fn continuing_a_response_of_a_conversation_forks(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let within = world.within(&conversation, &["b"], &["c"]).await;

    let fork = world.after(&within, &["d"], &["e"]).await;

    assert_ne!(world.end(&fork).await.thread, world.tip(&conversation).await.thread);
    assert_eq!(world.transcript(&fork).await, ["a", "b", "c", "d", "e"]);
    assert_eq!(world.listed(&conversation).await, ["a", "b", "c"]);
}

pub(crate) async fn thread_of_a_deleted_conversation_is_not_appended_to(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let within = world.within(&conversation, &["b"], &["c"]).await;
    world.delete_conversation(&conversation).await;

    let fork = world.after(&within, &["d"], &["e"]).await;

    assert_ne!(world.end(&fork).await.thread, world.end(&within).await.thread);
    assert_eq!(world.transcript(&fork).await, ["a", "b", "c", "d", "e"]);
}

pub(crate) async fn turn_without_items_is_recorded(world: World) {
    let empty = world.first(&[], &[]).await;
    let next = world.after(&empty, &["a"], &["b"]).await;
    let empty_fork = world.after(&empty, &[], &[]).await;
    let continuation = world.after(&empty_fork, &["c"], &[]).await;

    assert_eq!(world.transcript(&empty).await, [""; 0]);
    assert_eq!(world.transcript(&next).await, ["a", "b"]);
    assert_eq!(world.transcript(&continuation).await, ["c"]);
    assert_eq!(world.output(&empty).await, [""; 0]);
}

pub(crate) async fn turn_can_leave_no_record(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let (id, mut turn) =
        world.turn(Destination::Conversation(conversation.clone()), &["b"], &["c"]);
    turn.response = None;
    world.commit(turn).await.unwrap();

    assert_eq!(world.listed(&conversation).await, ["a", "b", "c"]);
    assert!(!world.exists(&id).await);
}

/// Another caller deletes the history of a turn while it runs: the turn is committed, and the items
/// that were not deleted remain.
pub(crate) async fn turn_after_a_deleted_response_is_stored(world: World) {
    let root = world.first(&["a"], &["b"]).await;
    let gone = world.after(&root, &["c"], &["d"]).await;
    let destination = world.destination_after(world.end(&gone).await);
    world.delete_response(&gone).await;
    let (id, turn) = world.turn(destination, &["e"], &["f"]);
    world.commit(turn).await.unwrap();
    assert_eq!(world.transcript(&id).await, ["a", "b", "e", "f"]);

    let destination = world.destination_after(world.end(&id).await);
    world.delete_response(&root).await;
    world.delete_response(&id).await;
    let (id, turn) = world.turn(destination, &["g"], &["h"]);
    world.commit(turn).await.unwrap();
    assert_eq!(world.transcript(&id).await, ["g", "h"]);
}

pub(crate) async fn response_in_another_shard_is_rejected(world: World) {
    let (_, mut turn) =
        world.turn(Destination::Conversation(world.conversation(&[]).await), &[], &[]);
    turn.destination = Destination::New { shard: Shard(7), thread: world.thread() };

    let refusal = world.commit(turn).await.unwrap_err();

    assert!(matches!(refusal, StoreError::Unavailable(_)));
}

pub(crate) async fn response_is_recorded_once(world: World) {
    let conversation = world.conversation(&[]).await;
    let destination = Destination::Conversation(conversation.clone());
    let (id, mut turn) = world.turn(destination, &["a"], &[]);
    world.commit(turn.clone()).await.unwrap();

    turn.input = items(&["b"]);
    assert!(world.commit(turn).await.is_err());

    assert_eq!(world.listed(&conversation).await, ["a"]);
    assert_eq!(world.transcript(&id).await, ["a"]);
}
