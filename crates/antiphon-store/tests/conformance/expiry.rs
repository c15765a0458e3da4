//! Responses that were kept for long enough go; what others still need stays.

use antiphon_store::{Destination, ResponseId};

use super::World;

/// When the responses of these tests are created, and the next of them a day later.
const FIRST_DAY: i64 = 1_767_225_600;
const DAY: i64 = 86_400;

impl World {
    /// A response that was created on this day, from 0.
    async fn on_day(
        &self,
        day: i64,
        destination: Destination,
        input: &[&str],
        output: &[&str],
    ) -> ResponseId {
        let (id, mut turn) = self.turn(destination, input, output);
        turn.response.as_mut().unwrap().created_at = FIRST_DAY + day * DAY;
        self.commit(turn).await.unwrap();
        id
    }

    /// Lets what was created before this day expire.
    async fn expire_before(&self, day: i64, limit: usize) -> usize {
        self.store.expire_responses(FIRST_DAY + day * DAY, limit).await.unwrap()
    }
}

pub(crate) async fn oldest_responses_expire_first(world: World) {
    let newer = world.on_day(1, world.anew(), &["c"], &["d"]).await;
    let old = world.on_day(0, world.anew(), &["a"], &["b"]).await;

    assert_eq!(world.expire_before(0, 9).await, 0, "what was created at that time is not older");
    assert_eq!(world.expire_before(2, 1).await, 1);

    assert!(!world.exists(&old).await);
    assert!(world.exists(&newer).await);
    assert_eq!(world.held(&["a", "b", "c", "d"]).await, ["c", "d"]);
}

pub(crate) async fn expiry_respects_its_limit(world: World) {
    for name in ["a", "b", "c", "d", "e"] {
        world.on_day(0, world.anew(), &[name], &[]).await;
    }

    assert_eq!(world.expire_before(1, 2).await, 2);
    assert_eq!(world.held(&["a", "b", "c", "d", "e"]).await.len(), 3);
    assert_eq!(world.expire_before(1, 2).await, 2);
    assert_eq!(world.expire_before(1, 2).await, 1);
    assert_eq!(world.expire_before(1, 2).await, 0);
    assert_eq!(world.held(&["a", "b", "c", "d", "e"]).await, [""; 0]);
}

pub(crate) async fn items_of_a_later_response_do_not_expire(world: World) {
    let first = world.on_day(0, world.anew(), &["a"], &["b"]).await;
    let continuation = world.destination_after(world.end(&first).await);
    let second = world.on_day(1, continuation, &["c"], &["d"]).await;
    let forking = world.destination_after(world.end(&first).await);
    let fork = world.on_day(2, forking, &["e"], &["f"]).await;

    assert_eq!(world.expire_before(1, 9).await, 1);
    assert_eq!(world.transcript(&second).await, ["a", "b", "c", "d"]);

    assert_eq!(world.expire_before(2, 9).await, 1);
    assert_eq!(world.transcript(&fork).await, ["a", "b", "e", "f"]);
    assert_eq!(world.held(&["c", "d"]).await, [""; 0]);

    assert_eq!(world.expire_before(3, 9).await, 1);
    assert_eq!(world.held(&["a", "b", "e", "f"]).await, [""; 0]);
}

pub(crate) async fn conversations_do_not_expire(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let within = Destination::Conversation(conversation.clone());
    let response = world.on_day(0, within, &["b"], &["c"]).await;

    assert_eq!(world.expire_before(1, 9).await, 1);

    assert!(!world.exists(&response).await);
    assert_eq!(world.listed(&conversation).await, ["a", "b", "c"]);
}

pub(crate) async fn items_before_a_pending_turn_do_not_expire(world: World) {
    let first = world.on_day(0, world.anew(), &["a"], &["b"]).await;
    let (response, turn) =
        world.turn(world.destination_after(world.end(&first).await), &["c"], &["d"]);
    let mut pending = turn.clone();
    pending.output.clear();
    world.record_pending(&pending).await;

    assert_eq!(world.expire_before(1, 9).await, 1);
    world.commit(turn).await.unwrap();

    assert_eq!(world.transcript(&response).await, ["a", "b", "c", "d"]);
}

pub(crate) async fn responses_of_every_tenant_expire(alice: World) {
    let bob = alice.seen_by("bob");
    alice.on_day(0, alice.anew(), &["a"], &[]).await;
    bob.on_day(0, bob.anew(), &["b"], &[]).await;

    assert_eq!(alice.expire_before(1, 9).await, 2);

    assert_eq!(alice.held(&["a"]).await, [""; 0]);
    assert_eq!(bob.held(&["b"]).await, [""; 0]);
}
