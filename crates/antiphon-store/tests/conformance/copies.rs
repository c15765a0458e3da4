//! Encrypted copies of turns that their provider may have lost.

use antiphon_store::{ResponseId, TurnCopy, TurnRecord};

use super::World;

/// More than all copies of a test.
const ROOM: u64 = 1 << 20;

fn copy(sealed: &'static str, expires_at: i64) -> TurnCopy {
    TurnCopy { sealed: sealed.into(), expires_at }
}

impl World {
    fn turn_with_copy(&self, copy: Option<TurnCopy>) -> (ResponseId, TurnRecord) {
        let (id, mut turn) = self.turn(self.anew(), &["a"], &[]);
        turn.response.as_mut().unwrap().copy = copy;
        (id, turn)
    }

    async fn commit_with_copy(&self, copy: Option<TurnCopy>) -> ResponseId {
        let (id, turn) = self.turn_with_copy(copy);
        self.commit(turn).await.unwrap();
        id
    }

    async fn copy_of(&self, id: &ResponseId) -> Option<TurnCopy> {
        let record = self.store.response(&self.tenant, id).await.unwrap();
        record.unwrap().response.copy
    }

    async fn expire_copies(&self, now: i64, max_bytes: u64) -> usize {
        self.store.ledgers().expire_copies(now, max_bytes).await.unwrap()
    }
}

pub(crate) async fn copy_of_a_turn_is_returned(world: World) {
    let with = world.commit_with_copy(Some(copy("sealed", 10))).await;
    let without = world.commit_with_copy(None).await;

    assert_eq!(world.copy_of(&with).await, Some(copy("sealed", 10)));
    assert_eq!(world.copy_of(&without).await, None);
}

pub(crate) async fn committed_turn_replaces_the_copy_of_its_pending_turn(world: World) {
    let (id, mut turn) = world.turn_with_copy(Some(copy("input", 10)));
    world.record_pending(&turn).await;
    turn.response.as_mut().unwrap().copy = None;

    world.commit(turn).await.unwrap();

    assert_eq!(world.copy_of(&id).await, None);
}

pub(crate) async fn expired_copies_are_deleted(world: World) {
    let old = world.commit_with_copy(Some(copy("old", 10))).await;
    let new = world.seen_by("bob").commit_with_copy(Some(copy("new", 11))).await;

    assert_eq!(world.expire_copies(9, ROOM).await, 0);
    assert_eq!(world.expire_copies(10, ROOM).await, 1);

    assert_eq!(world.copy_of(&old).await, None);
    assert_eq!(world.seen_by("bob").copy_of(&new).await, Some(copy("new", 11)));
}

pub(crate) async fn oldest_copies_of_a_tenant_make_room(world: World) {
    let bob = world.seen_by("bob");
    let first = world.commit_with_copy(Some(copy("12345", 10))).await;
    let second = world.commit_with_copy(Some(copy("12345", 11))).await;
    let other = bob.commit_with_copy(Some(copy("12345", 10))).await;

    assert_eq!(world.expire_copies(0, 9).await, 1);

    assert_eq!(world.copy_of(&first).await, None);
    assert_eq!(world.copy_of(&second).await, Some(copy("12345", 11)));
    assert_eq!(bob.copy_of(&other).await, Some(copy("12345", 10)));
}

pub(crate) async fn settled_turn_keeps_its_copy(world: World) {
    let (id, turn) = world.turn_with_copy(Some(copy("input", 10)));
    world.record_pending(&turn).await;

    let world = world.reopened().await;
    assert_eq!(world.store.settle_pending_turns().await, Ok(1));

    assert_eq!(world.copy_of(&id).await, Some(copy("input", 10)));
}
