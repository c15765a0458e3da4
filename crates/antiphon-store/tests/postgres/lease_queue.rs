//! The line for a conversation, as several processes stand in it.

use antiphon_store::{
    ConversationId, Destination, LeaseQueue, QueuePlace, RequestDigest, StoreError, TurnRecord,
};
use tokio::task::JoinSet;

use super::database::{Database, Process};
use crate::conformance::World;

async fn two() -> (Process, Process) {
    let one = Database::new().await.process().await;
    let other = one.beside().await;
    (one, other)
}

impl Process {
    fn lease_queue(&self) -> &dyn LeaseQueue {
        self.world.store.lease_queue().unwrap()
    }

    async fn joins(&self, id: &ConversationId) -> QueuePlace {
        self.lease_queue().join(&self.world.tenant, id).await.unwrap()
    }

    async fn is_first(&self, id: &ConversationId, place: QueuePlace) -> Result<bool, StoreError> {
        self.lease_queue().is_first(&self.world.tenant, id, place).await
    }

    async fn leaves(&self, id: &ConversationId, place: QueuePlace) {
        self.lease_queue().leave(&self.world.tenant, id, place).await.unwrap();
    }

    /// Commits a turn of this one item from a place.
    async fn says(
        &self,
        id: &ConversationId,
        name: &str,
        place: QueuePlace,
    ) -> Result<(), StoreError> {
        let (_, turn) = self.world.turn(Destination::Conversation(id.clone()), &[name], &[]);
        self.world.commit(TurnRecord { place: Some(place), ..turn }).await
    }
}

#[tokio::test]
async fn places_are_first_in_joining_order() {
    let (one, other) = two().await;
    let id = one.world.conversation(&[]).await;
    let (first, second, third) =
        (one.joins(&id).await, other.joins(&id).await, one.joins(&id).await);

    assert!(first < second && second < third);
    assert_eq!(one.is_first(&id, first).await, Ok(true));
    assert_eq!(other.is_first(&id, second).await, Ok(false));
    other.leaves(&id, second).await;
    assert_eq!(one.is_first(&id, third).await, Ok(false));
    one.leaves(&id, first).await;
    assert_eq!(one.is_first(&id, third).await, Ok(true));
}

/// A database that crashed can have an earlier state of its sequences.
#[tokio::test]
async fn places_are_never_drawn_twice() {
    let one = Database::new().await.process().await;
    let (id, second) = (one.world.conversation(&[]).await, one.world.conversation(&[]).await);
    let place = one.joins(&id).await;
    one.database.sql("SELECT setval('places', 1, false)").await;

    assert!(one.joins(&second).await > place);
    assert!(one.joins(&id).await > place);
}

/// The clock of the database can be set back.
#[tokio::test]
async fn place_follows_a_later_time() {
    let one = Database::new().await.process().await;
    let id = one.world.conversation(&[]).await;
    let place = one.joins(&id).await;
    one.database.sql("UPDATE leases SET place = place * 2").await;

    assert!(one.joins(&id).await.0 > place.0 * 2);
}

#[tokio::test]
async fn left_place_is_lost() {
    let (one, other) = two().await;
    let id = one.world.conversation(&[]).await;
    let place = one.joins(&id).await;

    assert_eq!(other.is_first(&id, place).await, Err(StoreError::LeaseLost), "it is another's");
    one.leaves(&id, place).await;

    assert_eq!(one.is_first(&id, place).await, Err(StoreError::LeaseLost));
    assert_eq!(one.says(&id, "a", place).await, Err(StoreError::LeaseLost));
    assert_eq!(one.world.listed(&id).await, [""; 0]);
}

#[tokio::test]
async fn queues_of_conversations_and_tenants_are_independent() {
    let (one, other) = two().await;
    let (id, second) = (one.world.conversation(&[]).await, one.world.conversation(&[]).await);
    one.joins(&id).await;
    let mut mallory = one.beside().await;
    mallory.world = mallory.world.seen_by("mallory");

    for (process, id) in [(&other, &second), (&mallory, &id)] {
        let place = process.joins(id).await;
        assert_eq!(process.is_first(id, place).await, Ok(true));
    }
}

#[tokio::test]
async fn only_the_first_place_commits() {
    let (one, other) = two().await;
    let id = one.world.conversation(&["a"]).await;
    let (first, second) = (one.joins(&id).await, other.joins(&id).await);

    assert_eq!(other.says(&id, "b", second).await, Err(StoreError::LeaseLost));
    assert_eq!(one.says(&id, "c", first).await, Ok(()));
    one.leaves(&id, first).await;
    assert_eq!(other.says(&id, "d", second).await, Ok(()));

    assert_eq!(one.world.listed(&id).await, ["a", "c", "d"]);
}

#[tokio::test]
async fn dead_place_is_skipped_after_its_turn_is_settled() {
    let (one, other) = two().await;
    let id = one.world.conversation(&["a"]).await;
    let (_, second) = (one.joins(&id).await, other.joins(&id).await);
    let (response, turn) = one.world.turn(Destination::Conversation(id.clone()), &["b"], &[]);
    one.world.record_pending(&turn).await;
    assert_eq!(other.is_first(&id, second).await, Ok(false));

    one.falls_silent().await;

    assert_eq!(other.is_first(&id, second).await, Ok(true));
    assert_eq!(other.world.transcript(&response).await, ["a", "b"]);
    assert_eq!(other.says(&id, "c", second).await, Ok(()));
    assert_eq!(other.world.listed(&id).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn place_stays_until_its_pending_turn_is_settled() {
    let (one, other) = two().await;
    let id = one.world.conversation(&["a"]).await;
    let (_, second) = (one.joins(&id).await, other.joins(&id).await);
    let (_, turn) = one.world.turn(Destination::Conversation(id.clone()), &["b"], &[]);
    one.world.record_pending(&turn).await;
    let lock = one.database.locked("leases").await;
    let sweeping = tokio::spawn({
        let store = other.world.store.clone();
        async move { store.settle_pending_turns().await }
    });
    one.database.waited_for("leases").await;

    one.falls_silent().await;
    drop(lock);

    assert_eq!(sweeping.await.unwrap(), Ok(0), "it lived when openings were looked for");
    assert_eq!(other.is_first(&id, second).await, Ok(true));
    assert_eq!(other.world.listed(&id).await, ["a", "b"]);
}

#[tokio::test]
async fn late_process_cannot_commit_over_its_successor() {
    let (sleeper, other) = two().await;
    let id = sleeper.world.conversation(&["a"]).await;
    let (first, second) = (sleeper.joins(&id).await, other.joins(&id).await);
    assert_eq!(sleeper.is_first(&id, first).await, Ok(true));
    sleeper.falls_silent().await;
    assert_eq!(other.is_first(&id, second).await, Ok(true));

    assert_eq!(sleeper.says(&id, "late", first).await, Err(StoreError::LeaseLost));
    assert_eq!(other.says(&id, "b", second).await, Ok(()));
    other.leaves(&id, second).await;

    assert_eq!(sleeper.says(&id, "later", first).await, Err(StoreError::LeaseLost));
    assert_eq!(sleeper.is_first(&id, first).await, Err(StoreError::LeaseLost));
    assert_eq!(other.world.listed(&id).await, ["a", "b"]);
}

#[tokio::test]
async fn late_process_cannot_retract_its_successors_turn() {
    let (sleeper, other) = two().await;
    let id = sleeper.world.conversation(&["a"]).await;
    let (first, second) = (sleeper.joins(&id).await, other.joins(&id).await);
    sleeper.falls_silent().await;
    assert_eq!(other.is_first(&id, second).await, Ok(true));
    let asked = RequestDigest([0xa5; 16]);
    let (_, turn) = other.world.turn(Destination::Conversation(id.clone()), &["b"], &["c"]);
    let turn = TurnRecord { request: Some(asked), place: Some(second), ..turn };
    assert_eq!(other.world.commit(turn).await, Ok(()));

    let World { store, tenant, .. } = &sleeper.world;
    let taken = store.retract(tenant, &id, &asked, sleeper.world.thread(), Some(first)).await;

    assert_eq!(taken, Err(StoreError::LeaseLost));
    assert_eq!(other.world.listed(&id).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn late_process_continues_without_a_successor() {
    let (sleeper, other) = two().await;
    let id = sleeper.world.conversation(&["a"]).await;
    let place = sleeper.joins(&id).await;

    sleeper.falls_silent().await;

    assert_eq!(sleeper.is_first(&id, place).await, Ok(true));
    assert_eq!(sleeper.says(&id, "b", place).await, Ok(()));
    assert_eq!(other.world.listed(&id).await, ["a", "b"]);
}

#[tokio::test]
async fn closed_process_frees_its_places() {
    let (one, other) = two().await;
    let id = one.world.conversation(&[]).await;
    let (_, second) = (one.joins(&id).await, other.joins(&id).await);

    one.world.store.close().await;

    assert_eq!(other.is_first(&id, second).await, Ok(true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_joins_are_each_first_once() {
    let (one, other) = two().await;
    let id = one.world.conversation(&[]).await;
    let mut joining = JoinSet::new();
    for task in 0..32 {
        let (world, id) = ([&one, &other][task % 2].world.clone(), id.clone());
        joining.spawn(async move {
            let line = world.store.lease_queue().unwrap();
            (line.join(&world.tenant, &id).await.unwrap(), task % 2)
        });
    }
    let mut places = joining.join_all().await;
    places.sort();

    for (at, (place, by)) in places.iter().enumerate() {
        let process = [&one, &other][*by];
        if let Some((next, by)) = places.get(at + 1) {
            assert!(place < next);
            assert_eq!([&one, &other][*by].is_first(&id, *next).await, Ok(false));
        }
        assert_eq!(process.is_first(&id, *place).await, Ok(true));
        process.leaves(&id, *place).await;
    }
}
