//! Notices to external endpoints.

use antiphon_store::{ClaimedNotice, Destination, Notice, TurnRecord};
use bytes::Bytes;

use super::World;

/// When the turns of these tests end.
const NOW: i64 = 1_767_225_601;
/// When a claim of now runs out.
const LATER: i64 = NOW + 60;

fn notice(id: &str, endpoint: &str, due_at: i64) -> Notice {
    let body = Bytes::from(format!(r#"{{"id":"{id}","object":"event"}}"#));
    Notice { id: id.to_owned(), endpoint: endpoint.to_owned(), due_at, body }
}

fn ids(claimed: &[ClaimedNotice]) -> Vec<(&str, &str)> {
    let ids = claimed.iter().map(|due| (due.notice.id.as_str(), due.notice.endpoint.as_str()));
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    ids
}

impl World {
    fn with_notices(&self, notices: Vec<Notice>) -> TurnRecord {
        let destination = Destination::New { shard: self.shard(), thread: self.thread() };
        TurnRecord { notices, ..self.turn(destination, &["a"], &[]).1 }
    }

    async fn claim(&self, now: i64) -> Vec<ClaimedNotice> {
        self.store.claim_notices(now, now + 60, 9).await.unwrap()
    }

    async fn receive(&self, due: &ClaimedNotice) {
        self.store.settle_notice(due, None).await.unwrap();
    }
}

pub(crate) async fn due_notices_are_claimed_once_in_order(world: World) {
    let notices = [("evt_1", NOW), ("evt_2", NOW - 5), ("evt_3", NOW + 1)];
    let notices = notices.map(|(id, due_at)| notice(id, "https://one.example/", due_at)).to_vec();
    let turn = world.with_notices(notices.clone());
    let response = turn.response.clone().unwrap().id;
    world.commit(turn).await.unwrap();

    let first = world.store.claim_notices(NOW, LATER, 1).await.unwrap();
    let second = world.store.claim_notices(NOW, LATER, 9).await.unwrap();

    let claimed = Notice { due_at: LATER, ..notices[1].clone() };
    let tenant = world.tenant.clone();
    assert_eq!(first, [ClaimedNotice { tenant, response, notice: claimed, attempt: 1 }]);
    assert_eq!(ids(&second), [("evt_1", "https://one.example/")]);
    assert_eq!(world.claim(NOW).await, []);
}

pub(crate) async fn delivered_notice_is_deleted(world: World) {
    let [one, two] = ["https://one.example/", "https://two.example/"];
    let notices = vec![notice("evt_1", one, NOW), notice("evt_1", two, NOW)];
    world.commit(world.with_notices(notices)).await.unwrap();
    let claimed = world.claim(NOW).await;
    assert_eq!(ids(&claimed), [("evt_1", one), ("evt_1", two)]);

    let of_one = claimed.iter().find(|due| due.notice.endpoint == one).unwrap();
    world.receive(of_one).await;

    assert_eq!(ids(&world.claim(LATER).await), [("evt_1", two)]);
}

pub(crate) async fn failed_notice_is_due_again_later(world: World) {
    world.commit(world.with_notices(vec![notice("evt_1", "one", NOW)])).await.unwrap();
    let claimed = world.claim(NOW).await;

    world.store.settle_notice(&claimed[0], Some(NOW + 5)).await.unwrap();

    assert_eq!(world.claim(NOW + 4).await, []);
    let again = world.claim(NOW + 5).await;
    assert_eq!((ids(&again), again[0].attempt), (vec![("evt_1", "one")], 2));
}

pub(crate) async fn expired_claim_settles_nothing(world: World) {
    world.commit(world.with_notices(vec![notice("evt_1", "one", NOW)])).await.unwrap();
    let late = world.claim(NOW).await;
    let current = world.claim(LATER).await;
    assert_eq!(current[0].attempt, 2);

    world.receive(&late[0]).await;

    let again = world.claim(LATER + 60).await;
    assert_eq!(ids(&again), [("evt_1", "one")]);
    world.receive(&again[0]).await;
    assert_eq!(world.claim(LATER + 600).await, []);
}

pub(crate) async fn notice_of_pending_turn_is_not_due(world: World) {
    let turn = world.with_notices(vec![notice("evt_1", "one", NOW)]);
    world.record_pending(&turn).await;
    assert_eq!(world.claim(LATER).await, []);
}

pub(crate) async fn notices_of_the_commit_replace_pending_ones(world: World) {
    let mut turn =
        world.with_notices(vec![notice("evt_1", "one", NOW), notice("evt_1", "two", NOW)]);
    world.record_pending(&turn).await;
    turn.notices = vec![notice("evt_2", "one", NOW)];

    world.commit(turn).await.unwrap();

    assert_eq!(ids(&world.claim(NOW).await), [("evt_2", "one")]);
}

pub(crate) async fn dropped_pending_turn_has_no_notices(world: World) {
    let turn = world.with_notices(vec![notice("evt_1", "one", NOW)]);
    world.record_pending(&turn).await;

    let id = turn.response.unwrap().id;
    world.store.drop_pending_turn(&world.tenant, &id).await.unwrap();

    let anew = world.with_notices(vec![notice("evt_2", "one", NOW)]);
    world.commit(anew).await.unwrap();
    assert_eq!(ids(&world.claim(NOW).await), [("evt_2", "one")]);
}

pub(crate) async fn rejected_turn_has_no_notices(world: World) {
    let gone = world.conversation(&[]).await;
    world.delete_conversation(&gone).await;
    let (_, turn) = world.turn(Destination::Conversation(gone), &["a"], &[]);

    let refused =
        world.commit(TurnRecord { notices: vec![notice("evt_1", "one", NOW)], ..turn }).await;

    assert!(refused.is_err());
    assert_eq!(world.claim(NOW).await, []);
}

pub(crate) async fn notices_of_a_settled_turn_become_due(world: World) {
    world.commit(world.with_notices(vec![notice("evt_1", "one", NOW)])).await.unwrap();
    world.record_pending(&world.with_notices(vec![notice("evt_2", "one", NOW)])).await;

    let world = world.reopened().await;
    assert_eq!(ids(&world.claim(NOW).await), [("evt_1", "one")]);
    assert_eq!(world.store.settle_pending_turns().await, Ok(1));

    assert_eq!(ids(&world.claim(NOW).await), [("evt_2", "one")]);
}

pub(crate) async fn notices_of_erased_tenant_are_deleted(world: World) {
    world.commit(world.with_notices(vec![notice("evt_1", "one", NOW)])).await.unwrap();
    let other = world.seen_by("bob");
    other.commit(other.with_notices(vec![notice("evt_2", "one", NOW)])).await.unwrap();

    while !world.store.erase(&world.tenant, NOW, 9).await.unwrap().is_nothing() {}

    assert_eq!(ids(&world.claim(NOW).await), [("evt_2", "one")]);
}
