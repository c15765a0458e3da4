//! What goes when a response or a conversation is deleted.

use super::World;
use super::world::names;

pub(crate) async fn unreachable_items_are_deleted_with_their_response(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let second = world.after(&first, &["c"], &["d"]).await;

    assert!(world.delete_response(&second).await);
    assert!(!world.exists(&second).await);
    assert_eq!(world.held(&["a", "b", "c", "d"]).await, ["a", "b"]);
    assert!(!world.delete_response(&second).await);

    assert!(world.delete_response(&first).await);
    assert_eq!(world.held(&["a", "b", "c", "d"]).await, [""; 0]);
}

pub(crate) async fn items_of_a_later_response_stay(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let second = world.after(&first, &["c"], &["d"]).await;

    world.delete_response(&first).await;

    assert_eq!(world.transcript(&second).await, ["a", "b", "c", "d"]);
    assert_eq!(world.held(&["a", "b", "c", "d"]).await.len(), 4);
}

/// A store may keep what it has read, but not beyond a change.
pub(crate) async fn transcript_read_before_a_change_is_not_read_again(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let first = world.within(&conversation, &["b"], &["c"]).await;
    for _ in 0..2 {
        assert_eq!(world.transcript(&first).await, ["a", "b", "c"]);
    }

    assert!(world.delete_item(&conversation, "b").await);
    let cursor = world.tip(&conversation).await;
    for _ in 0..2 {
        let transcript = world.store.transcript(&world.tenant, cursor).await.unwrap();
        let live = transcript.iter().filter(|item| item.body.bytes().is_some());
        assert_eq!(names(&live.cloned().collect::<Vec<_>>()), ["a", "c"]);
    }

    let other = world.first(&["d"], &["e"]).await;
    assert_eq!(world.transcript(&other).await, ["d", "e"]);
    assert!(world.delete_response(&other).await);
    let next = world.first(&["f"], &["g"]).await;
    for _ in 0..2 {
        assert_eq!(world.transcript(&next).await, ["f", "g"]);
    }
}

pub(crate) async fn items_of_a_fork_stay(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let long = world.after(&first, &["c"], &["d"]).await;
    let fork = world.after(&first, &["e"], &["f"]).await;
    let fork_of_fork = world.after(&fork, &["g"], &["h"]).await;
    let _ = world.after(&fork, &["i"], &["j"]).await;

    world.delete_response(&first).await;
    world.delete_response(&long).await;
    world.delete_response(&fork).await;

    assert_eq!(world.held(&["a", "b", "c", "d"]).await, ["a", "b"]);
    assert_eq!(world.transcript(&fork_of_fork).await, ["a", "b", "e", "f", "g", "h"]);
}

pub(crate) async fn deleted_fork_frees_its_unreachable_items(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let long = world.after(&first, &["c"], &["d"]).await;
    let longest = world.after(&long, &["e"], &["f"]).await;
    let fork = world.after(&long, &["g"], &["h"]).await;
    world.delete_response(&long).await;
    world.delete_response(&longest).await;
    assert_eq!(world.held(&["a", "b", "c", "d", "e", "f"]).await, ["a", "b", "c", "d"]);

    world.delete_response(&fork).await;

    let left = world.held(&["a", "b", "c", "d", "g", "h"]).await;
    assert_eq!(left, ["a", "b"]);
    assert_eq!(world.transcript(&first).await, ["a", "b"]);
}

pub(crate) async fn chain_of_forks_is_deleted_completely(world: World) {
    const DEPTH: usize = 40;
    let conversation = world.conversation(&["root"]).await;
    let mut responses = vec![world.within(&conversation, &[], &["0"]).await];
    for depth in 1..DEPTH {
        let previous = &responses[depth - 1];
        let (taken, subject) = (format!("x{depth}"), depth.to_string());
        let sibling = world.after(previous, &[&taken], &[]).await;
        responses.push(world.after(previous, &[], &[&subject]).await);
        world.delete_response(&sibling).await;
    }
    let deepest = responses.pop().unwrap();
    for response in &responses {
        world.delete_response(response).await;
    }
    world.delete_conversation(&conversation).await;
    let subject: Vec<String> = (0..DEPTH).map(|depth| depth.to_string()).collect();
    assert_eq!(world.transcript(&deepest).await[1..], subject);

    world.delete_response(&deepest).await;

    let subject: Vec<&str> = subject.iter().map(String::as_str).collect();
    assert_eq!(world.held(&subject).await, [""; 0]);
    assert_eq!(world.held(&["root"]).await, [""; 0]);
}

pub(crate) async fn live_conversation_keeps_its_items(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let response = world.within(&conversation, &["b"], &["c"]).await;
    let fork = world.after(&response, &["d"], &["e"]).await;

    world.delete_response(&response).await;
    world.delete_response(&fork).await;

    assert_eq!(world.listed(&conversation).await, ["a", "b", "c"]);
    assert_eq!(world.held(&["d", "e"]).await, [""; 0]);
}

pub(crate) async fn responses_of_deleted_conversation_stay_readable(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let response = world.within(&conversation, &["b"], &["c"]).await;
    world.append(&conversation, &["d"]).await.unwrap();

    world.delete_conversation(&conversation).await;

    assert_eq!(world.transcript(&response).await, ["a", "b", "c"]);
    assert_eq!(world.input(&response).await, ["b"]);
    assert_eq!(world.output(&response).await, ["c"]);
    assert_eq!(world.held(&["c", "d"]).await, ["c"]);
    world.delete_response(&response).await;
    assert_eq!(world.held(&["a", "b", "c"]).await, [""; 0]);
}

/// A caller may still hold the cursor of a response that is gone: it must never come to name what
/// another turn put there.
pub(crate) async fn positions_of_deleted_items_are_not_reused(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    let gone = world.after(&first, &["c"], &["d"]).await;
    let stale = world.end(&gone).await;
    world.delete_response(&gone).await;

    let next = world.after(&first, &["e"], &["f"]).await;

    assert_eq!(world.transcript(&next).await, ["a", "b", "e", "f"]);
    assert_eq!(world.before(stale).await, ["a", "b"]);
    let (late, turn) = world.turn(world.destination_after(stale), &["g"], &["h"]);
    world.commit(turn).await.unwrap();
    assert_eq!(world.transcript(&late).await, ["a", "b", "g", "h"]);
}
