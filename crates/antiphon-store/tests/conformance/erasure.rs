//! Everything of a tenant goes, and nothing of another's.

use antiphon_store::{DataCounts, Destination};

use super::World;
use super::world::item_id;

/// When the tenants are erased: after all that the worlds of the tests did.
pub(crate) const NOW: i64 = 1_800_000_000;

impl World {
    /// Erases the tenant, so many entries at a time; how much was erased each time.
    pub(crate) async fn erase(&self, limit: usize) -> Vec<DataCounts> {
        let mut erased = Vec::new();
        loop {
            match self.store.erase(&self.tenant, NOW, limit).await.unwrap() {
                nothing if nothing.is_nothing() => return erased,
                some => erased.push(some),
            }
        }
    }

    /// A conversation with a response and a deleted item, a chain that forks, an open turn, and the
    /// ledger of an empty conversation: what [`EVERYTHING`] names.
    pub(crate) async fn has_everything(&self) {
        let conversation = self.conversation(&["a", "b"]).await;
        self.within(&conversation, &["c"], &["d"]).await;
        self.delete_item(&conversation, "b").await;
        let first = self.first(&["e"], &["f"]).await;
        self.after(&first, &["g"], &["h"]).await;
        self.after(&first, &["i"], &["j"]).await;
        let (_, turn) = self.turn(self.destination_after(self.end(&first).await), &["k"], &[]);
        self.record_pending(&turn).await;
        self.adopted("theirs").await;
    }
}

pub(crate) const EVERYTHING: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// The counts of all erased data, except for the lookup tables.
fn sum(erased: &[DataCounts]) -> DataCounts {
    let sum = erased.iter().fold(DataCounts::default(), |sum, more| sum + *more);
    DataCounts { others: 0, ..sum }
}

pub(crate) async fn erased_tenant_has_no_data(world: World) {
    world.has_everything().await;

    let erased = world.erase(1000).await;

    let expected = DataCounts {
        conversations: 2,
        responses: 4,
        pending_turns: 1,
        ledgers: 1,
        items: 9,
        deleted_items: 1,
        others: 0,
    };
    assert_eq!(sum(&erased), expected);
    let ids = EVERYTHING.map(item_id);
    let located = world.store.locate(&world.tenant, &ids).await;
    assert_eq!(located, Ok(Vec::new()), "not even tombstones");
    assert_eq!(world.entry("theirs").await, None);
    assert_eq!(world.store.settle_pending_turns().await, Ok(0));
}

pub(crate) async fn erasure_continues_in_small_batches(world: World) {
    world.has_everything().await;

    let erased = world.erase(2).await;

    let entries = |batch: &DataCounts| {
        let DataCounts { conversations, responses, pending_turns, .. } = batch;
        let DataCounts { ledgers, items, deleted_items, others, .. } = batch;
        conversations + responses + pending_turns + ledgers + items + deleted_items + others
    };
    assert!(erased.iter().all(|batch| (1..=2).contains(&entries(batch))), "{erased:?}");
    assert_eq!(sum(&erased).items, 9);
    assert_eq!(world.held(&EVERYTHING).await, [""; 0]);
}

pub(crate) async fn other_tenants_are_not_erased(alice: World) {
    let bob = alice.seen_by("bob");
    alice.has_everything().await;
    bob.has_everything().await;

    alice.erase(1000).await;

    assert_eq!(bob.held(&EVERYTHING).await, ["a", "c", "d", "e", "f", "g", "h", "i", "j"]);
    assert_eq!(sum(&bob.erase(1000).await).conversations, 2);
}

pub(crate) async fn erased_tenant_can_begin_again(world: World) {
    world.has_everything().await;
    world.erase(1000).await;

    let destination = Destination::New { shard: world.shard(), thread: world.thread() };
    let (response, mut turn) = world.turn(destination, &["a"], &["b"]);
    turn.response.as_mut().unwrap().created_at = NOW;
    world.commit(turn).await.unwrap();

    assert_eq!(world.transcript(&response).await, ["a", "b"]);
}

pub(crate) async fn tenant_without_data_erases_nothing(world: World) {
    assert_eq!(world.erase(1000).await, []);
}
