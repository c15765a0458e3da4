//! Responses in a provider's background whose end is awaited.

use antiphon_store::{ClaimedNotice, Destination, Notice, TurnRecord, WATCH_ENDPOINT};
use bytes::Bytes;

use super::World;

/// When the turns of these tests are committed.
const NOW: i64 = 1_767_225_601;

fn notice(id: &str, endpoint: &str, due_at: i64) -> Notice {
    let body = Bytes::from(format!(r#"{{"id":"{id}"}}"#));
    Notice { id: id.to_owned(), endpoint: endpoint.to_owned(), due_at, body }
}

fn ids(claimed: &[ClaimedNotice]) -> Vec<&str> {
    claimed.iter().map(|due| due.notice.id.as_str()).collect()
}

impl World {
    /// Commits a turn whose response is watched, under the provider's id of it.
    async fn watch(&self, id: &str, due_at: i64) {
        let destination = Destination::New { shard: self.shard(), thread: self.thread() };
        let turn = self.turn(destination, &["a"], &[]).1;
        self.commit(TurnRecord { notices: vec![notice(id, WATCH_ENDPOINT, due_at)], ..turn })
            .await
            .unwrap();
    }

    async fn claim_watches(&self, now: i64) -> Vec<ClaimedNotice> {
        self.store.watches().claim(now, now + 30, 9).await.unwrap()
    }

    async fn next_watch(&self) -> Option<i64> {
        self.store.watches().next_due().await.unwrap()
    }
}

pub(crate) async fn due_watch_is_claimed_once(world: World) {
    world.watch("resp_1", NOW + 1).await;
    world.watch("resp_2", NOW).await;
    assert_eq!(world.next_watch().await, Some(NOW));

    let first = world.claim_watches(NOW).await;

    assert_eq!((ids(&first), first[0].attempt), (vec!["resp_2"], 1));
    assert_eq!(world.claim_watches(NOW).await, []);
    assert_eq!(world.next_watch().await, Some(NOW + 1));
    let both = world.claim_watches(NOW + 30).await;
    let mut both = ids(&both);
    both.sort_unstable();
    assert_eq!(both, ["resp_1", "resp_2"]);
}

pub(crate) async fn watch_can_be_put_off(world: World) {
    world.watch("resp_1", NOW).await;
    let claimed = world.claim_watches(NOW).await;

    world.store.watches().put_off(&claimed[0], NOW + 5).await.unwrap();

    assert_eq!(world.claim_watches(NOW + 4).await, []);
    let again = world.claim_watches(NOW + 5).await;
    assert_eq!((ids(&again), again[0].attempt), (vec!["resp_1"], 2));
}

pub(crate) async fn watch_ends_once_and_stores_its_notices(world: World) {
    world.watch("resp_1", NOW).await;
    let late = world.claim_watches(NOW).await;
    let current = world.claim_watches(NOW + 30).await;
    let watches = world.store.watches();
    let of = |id| vec![notice(id, "https://one.example/", NOW)];

    assert_eq!(watches.end(&late[0], of("evt_1")).await, Ok(false));
    assert_eq!(watches.end(&current[0], of("evt_2")).await, Ok(true));
    assert_eq!(watches.end(&current[0], of("evt_3")).await, Ok(false));

    assert_eq!(world.next_watch().await, None);
    assert_eq!(ids(&world.store.claim_notices(NOW, NOW + 60, 9).await.unwrap()), ["evt_2"]);
}

pub(crate) async fn unclaimed_watch_can_end(world: World) {
    let destination = Destination::New { shard: world.shard(), thread: world.thread() };
    let turn = world.turn(destination, &["a"], &[]).1;
    let (response, watch) =
        (turn.response.clone().unwrap().id, notice("resp_1", WATCH_ENDPOINT, NOW));
    world.commit(TurnRecord { notices: vec![watch.clone()], ..turn }).await.unwrap();
    let tenant = world.tenant.clone();
    let committed = ClaimedNotice { tenant, response, notice: watch, attempt: 0 };

    assert_eq!(world.store.watches().end(&committed, Vec::new()).await, Ok(true));
    assert_eq!(world.next_watch().await, None);
}

pub(crate) async fn webhooks_do_not_claim_watches(world: World) {
    world.watch("resp_1", NOW).await;
    assert_eq!(world.store.claim_notices(NOW + 60, NOW + 120, 9).await, Ok(Vec::new()));
    assert_eq!(ids(&world.claim_watches(NOW).await), ["resp_1"]);
}

pub(crate) async fn watches_of_erased_tenant_are_deleted(world: World) {
    world.watch("resp_1", NOW).await;
    let claimed = world.claim_watches(NOW).await;
    let other = world.seen_by("bob");
    other.watch("resp_2", NOW).await;

    while !world.store.erase(&world.tenant, NOW, 9).await.unwrap().is_nothing() {}

    assert_eq!(ids(&world.claim_watches(NOW + 60).await), ["resp_2"]);
    let notices = vec![notice("evt_1", "https://one.example/", NOW)];
    assert_eq!(world.store.watches().end(&claimed[0], notices).await, Ok(false));
    assert_eq!(world.store.claim_notices(NOW, NOW + 60, 9).await, Ok(Vec::new()));
}
