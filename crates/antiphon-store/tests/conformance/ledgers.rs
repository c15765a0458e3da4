//! What is known of the conversations and responses that providers keep.

use antiphon::HeldItem;
use antiphon_store::{
    Conversation, ConversationId, Destination, LedgerEntry, LedgerSubject, LedgerUpdate, Ledgers,
    ResponseId, StoreError, TurnRecord, UpstreamId,
};
use futures_util::future::join_all;

use super::World;
use super::background::{accepted, end};
use super::world::{items, saying};

/// What the provider of these tests calls something.
pub(crate) fn named(id: &str) -> UpstreamId {
    UpstreamId { upstream: "theirs".into(), id: id.into() }
}

/// The entry of a conversation of that provider.
pub(crate) fn of_conversation(id: &ConversationId, is_stale: bool) -> LedgerEntry {
    let subject = LedgerSubject::Conversation(id.clone());
    LedgerEntry { upstream: "theirs".into(), subject, is_stale }
}

/// The entry of a response of that provider.
pub(crate) fn of_response(id: &ResponseId, is_stale: bool) -> LedgerEntry {
    let subject = LedgerSubject::Response(id.clone());
    LedgerEntry { upstream: "theirs".into(), subject, is_stale }
}

/// Items that the provider has.
pub(crate) fn elsewhere(names: &[&str]) -> Vec<HeldItem> {
    items(names).into_iter().map(HeldItem::without_body).collect()
}

/// A turn that its provider called so.
pub(crate) fn receive(turn: TurnRecord, name: &str, is_stale: bool) -> TurnRecord {
    TurnRecord { ledger: Some(LedgerUpdate { response: Some(named(name)), is_stale }), ..turn }
}

impl World {
    pub(crate) fn ledgers(&self) -> &dyn Ledgers {
        self.store.ledgers()
    }

    pub(crate) async fn entry(&self, name: &str) -> Option<LedgerEntry> {
        self.ledgers().entry(&self.tenant, name).await.unwrap()
    }

    pub(crate) async fn adopt(&self, name: &str, conversation: Conversation) -> LedgerEntry {
        let adopted = self.ledgers().adopt(&self.tenant, named(name), conversation, self.thread());
        adopted.await.unwrap()
    }

    /// The ledger of a conversation that its provider calls so.
    pub(crate) async fn adopted(&self, name: &str) -> ConversationId {
        match self.adopt(name, self.new_conversation()).await.subject {
            LedgerSubject::Conversation(id) => id,
            other @ LedgerSubject::Response(_) => panic!("{name} is {other:?}"),
        }
    }

    pub(crate) async fn announce(&self, name: &str, response: &ResponseId) {
        self.ledgers().announce(&self.tenant, named(name), response).await.unwrap();
    }

    pub(crate) async fn upstream_id(&self, response: &ResponseId) -> Option<UpstreamId> {
        self.ledgers().upstream_id(&self.tenant, response).await.unwrap()
    }

    pub(crate) async fn mark_stale(&self, id: &ConversationId) {
        self.ledgers().mark_stale(&self.tenant, id).await.unwrap();
    }

    pub(crate) async fn resync(
        &self,
        id: &ConversationId,
        items: Vec<HeldItem>,
    ) -> Result<(), StoreError> {
        self.ledgers().resync(&self.tenant, id, self.thread(), items, None).await
    }

    pub(crate) async fn forget(&self, name: &str) -> bool {
        self.ledgers().forget(&self.tenant, name).await.unwrap()
    }

    pub(crate) fn anew(&self) -> Destination {
        Destination::New { shard: self.shard(), thread: self.thread() }
    }

    /// A response in a tree of forks of its own, which its provider calls so.
    pub(crate) async fn kept_as(&self, name: &str, input: &[&str], output: &[&str]) -> ResponseId {
        let (id, turn) = self.turn(self.anew(), input, output);
        self.commit(receive(turn, name, false)).await.unwrap();
        id
    }
}

pub(crate) async fn conversation_is_adopted_once(world: World) {
    assert_eq!(world.entry("conv_x").await, None);
    let (one, other) = (world.new_conversation(), world.new_conversation());

    let adopted = world.adopt("conv_x", one.clone()).await;
    let again = world.adopt("conv_x", other.clone()).await;

    assert_eq!(adopted, of_conversation(&one.id, true));
    assert_eq!(
        (Some(again), Some(adopted)),
        (world.entry("conv_x").await, world.entry("conv_x").await)
    );
    assert_eq!(world.listed(&one.id).await, [""; 0]);
    assert_eq!(world.store.conversation(&world.tenant, &other.id).await, Ok(None));
}

pub(crate) async fn concurrent_adoptions_return_one_ledger(world: World) {
    let candidates: Vec<_> = (0..8).map(|_| world.new_conversation()).collect();

    let adopted = join_all(candidates.iter().map(|one| world.adopt("conv_x", one.clone()))).await;

    let expected = world.entry("conv_x").await.unwrap();
    assert_eq!(adopted, vec![expected; 8]);
    let found = candidates.iter().map(|one| world.store.conversation(&world.tenant, &one.id));
    let found = join_all(found).await.into_iter().filter(|found| *found != Ok(None));
    assert_eq!(found.count(), 1);
}

pub(crate) async fn announced_response_is_stale_until_its_commit(world: World) {
    let conversation = world.adopted("conv_x").await;
    let (id, turn) = world.turn(Destination::Conversation(conversation.clone()), &["a"], &["b"]);

    assert_eq!(world.upstream_id(&id).await, None);
    world.announce("resp_x", &id).await;

    assert_eq!(world.entry("resp_x").await, Some(of_response(&id, true)));
    assert_eq!(world.upstream_id(&id).await, Some(named("resp_x")));
    assert!(!world.exists(&id).await);
    world.commit(receive(turn, "resp_x", false)).await.unwrap();
    assert_eq!(world.entry("resp_x").await, Some(of_response(&id, false)));
    assert_eq!(world.entry("conv_x").await, Some(of_conversation(&conversation, false)));
    assert_eq!(world.transcript(&id).await, ["a", "b"]);
}

pub(crate) async fn stale_turn_leaves_its_ledgers_stale(world: World) {
    let conversation = world.adopted("conv_x").await;
    world.resync(&conversation, Vec::new()).await.unwrap();
    let (id, turn) = world.turn(Destination::Conversation(conversation.clone()), &["a"], &[]);

    world.commit(receive(turn, "resp_x", true)).await.unwrap();

    assert_eq!(world.entry("resp_x").await, Some(of_response(&id, true)));
    assert_eq!(world.entry("conv_x").await, Some(of_conversation(&conversation, true)));
}

pub(crate) async fn turn_without_upstream_id_has_no_name(world: World) {
    let conversation = world.adopted("conv_x").await;
    let within = || Destination::Conversation(conversation.clone());
    let unrecorded = TurnRecord { response: None, ..world.turn(within(), &["a"], &["b"]).1 };
    world.commit(receive(unrecorded, "resp_x", false)).await.unwrap();
    assert_eq!(world.entry("conv_x").await, Some(of_conversation(&conversation, false)));
    assert_eq!(world.entry("resp_x").await, None, "there is no record that it could stand for");

    let (id, turn) = world.turn(within(), &["c"], &["d"]);
    let ledger = Some(LedgerUpdate { response: None, is_stale: true });
    world.commit(TurnRecord { ledger, ..turn }).await.unwrap();

    assert_eq!(world.entry("conv_x").await, Some(of_conversation(&conversation, true)));
    assert_eq!(world.transcript(&id).await, ["a", "b", "c", "d"]);
}

pub(crate) async fn request_in_flight_marks_the_ledger_stale(world: World) {
    let (one, other) = (world.adopted("conv_1").await, world.adopted("conv_2").await);
    let own = world.conversation(&["a"]).await;
    for id in [&one, &other] {
        world.resync(id, Vec::new()).await.unwrap();
    }

    world.mark_stale(&one).await;
    world.mark_stale(&own).await;

    assert_eq!(world.entry("conv_1").await, Some(of_conversation(&one, true)));
    assert_eq!(world.entry("conv_2").await, Some(of_conversation(&other, false)));

    world.ledgers().mark_fresh(&world.tenant, &one).await.unwrap();

    assert_eq!(world.entry("conv_1").await, Some(of_conversation(&one, false)));
}

pub(crate) async fn resync_replaces_the_items(world: World) {
    let conversation = world.adopted("conv_x").await;
    world.append(&conversation, &["a"]).await.unwrap();
    let response = world.within(&conversation, &["b"], &["c"]).await;
    world.append(&conversation, &["d"]).await.unwrap();

    world.resync(&conversation, elsewhere(&["c", "b", "e"])).await.unwrap();

    assert_eq!(world.entry("conv_x").await, Some(of_conversation(&conversation, false)));
    assert_eq!(world.listed(&conversation).await, ["c", "b", "e"]);
    assert_eq!(world.transcript(&response).await, ["a", "b", "c"], "it ends where it did");
    assert_eq!(world.held(&["a", "b", "c", "d"]).await, ["a", "b", "c"]);
    let next = world.within(&conversation, &["f"], &["g"]).await;
    assert_eq!(world.transcript(&next).await, ["c", "b", "e", "f", "g"]);
    let after = world.after(&response, &["h"], &[]).await;
    assert_eq!(world.transcript(&after).await, ["a", "b", "c", "h"]);
}

pub(crate) async fn unreachable_items_are_deleted_after_resync(world: World) {
    let conversation = world.adopted("conv_x").await;
    let response = world.within(&conversation, &["a"], &["b"]).await;
    world.resync(&conversation, elsewhere(&["a", "b"])).await.unwrap();
    assert_eq!(world.held(&["a", "b"]).await, ["a", "b"]);

    world.delete_response(&response).await;
    assert_eq!(world.held(&["a", "b"]).await, [""; 0]);
    assert_eq!(world.listed(&conversation).await, ["a", "b"]);
    world.delete_item(&conversation, "a").await;
    world.resync(&conversation, items(&["c"])).await.unwrap();

    let located = world.store.locate(&world.tenant, &["msg_a".into(), "msg_b".into()]).await;
    assert_eq!(located, Ok(Vec::new()), "not even tombstones");
    assert_eq!(world.listed(&conversation).await, ["c"]);
}

pub(crate) async fn rejected_resync_changes_nothing(world: World) {
    let conversation = world.adopted("conv_x").await;
    world.append(&conversation, &["a"]).await.unwrap();
    let own = world.conversation(&["b"]).await;
    let unknown = world.conversation_id(world.shard());

    let twice = elsewhere(&["c", "d", "c"]);
    assert_eq!(
        world.resync(&conversation, twice).await,
        Err(StoreError::DuplicateItem("msg_c".into()))
    );
    for id in [&own, &unknown] {
        let refused = world.resync(id, elsewhere(&["c"])).await;
        assert_eq!(refused, Err(StoreError::ConversationNotFound));
    }

    assert_eq!(world.entry("conv_x").await, Some(of_conversation(&conversation, true)));
    assert_eq!(world.listed(&conversation).await, ["a"]);
    assert_eq!(world.listed(&own).await, ["b"]);
}

pub(crate) async fn later_response_takes_over_a_name(world: World) {
    let older = world.kept_as("resp_x", &["a"], &["b"]).await;
    let newer = world.kept_as("resp_x", &["c"], &["d"]).await;
    assert_eq!(world.entry("resp_x").await, Some(of_response(&newer, false)));
    assert!(!world.exists(&older).await, "nobody could find it any more");
    assert_eq!(world.held(&["a", "b", "c", "d"]).await, ["c", "d"]);

    let (last, turn) = world.turn(world.destination_after(world.end(&newer).await), &["e"], &["f"]);
    world.commit(receive(turn, "resp_x", false)).await.unwrap();

    assert_eq!(world.entry("resp_x").await, Some(of_response(&last, false)));
    assert!(!world.exists(&newer).await);
    assert_eq!(world.transcript(&last).await, ["c", "d", "e", "f"]);
}

pub(crate) async fn background_turn_records_its_name(world: World) {
    let older = world.kept_as("resp_x", &["c"], &["d"]).await;
    let (id, turn) = accepted(&world).await;

    end(&world, receive(turn, "resp_x", false), 2).await.unwrap();

    assert_eq!(world.entry("resp_x").await, Some(of_response(&id, false)));
    assert!(!world.exists(&older).await);
    assert_eq!(world.transcript(&id).await, ["a", "b"]);
}

pub(crate) async fn response_has_one_name(world: World) {
    let (id, turn) = world.turn(world.anew(), &["a"], &["b"]);
    world.announce("resp_1", &id).await;
    world.announce("resp_1", &id).await;

    world.announce("resp_2", &id).await;
    assert_eq!(world.entry("resp_1").await, None);
    assert_eq!(world.entry("resp_2").await, Some(of_response(&id, true)));
    world.commit(receive(turn, "resp_3", false)).await.unwrap();

    assert_eq!(world.entry("resp_2").await, None);
    assert_eq!(world.entry("resp_3").await, Some(of_response(&id, false)));
    assert_eq!(world.upstream_id(&id).await, Some(named("resp_3")));
    assert!(world.exists(&id).await);
}

pub(crate) async fn dropped_pending_turn_frees_its_name(world: World) {
    let (id, turn) = world.turn(world.anew(), &["a"], &[]);
    world.record_pending(&turn).await;
    world.announce("resp_x", &id).await;
    let committed = world.kept_as("resp_y", &["b"], &["c"]).await;

    for response in [&id, &committed] {
        assert_eq!(world.store.drop_pending_turn(&world.tenant, response).await, Ok(()));
    }

    assert_eq!((world.entry("resp_x").await, world.upstream_id(&id).await), (None, None));
    assert_eq!(world.entry("resp_y").await, Some(of_response(&committed, false)));
}

pub(crate) async fn forgotten_ledger_is_deleted(world: World) {
    let conversation = world.adopted("conv_x").await;
    world.append(&conversation, &["a"]).await.unwrap();
    let response = world.kept_as("resp_x", &["b"], &["c"]).await;
    let (announced, turn) = world.turn(world.anew(), &["d"], &[]);
    world.record_pending(&turn).await;
    world.announce("resp_y", &announced).await;

    for name in ["conv_x", "resp_x", "resp_y"] {
        assert!(world.forget(name).await, "{name}");
        assert!(!world.forget(name).await, "{name}");
        assert_eq!(world.entry(name).await, None);
    }

    assert_eq!(world.store.conversation(&world.tenant, &conversation).await, Ok(None));
    assert!(!world.exists(&response).await);
    assert_eq!(world.store.is_open(&world.tenant, &announced).await, Ok(false));
    assert_eq!(world.held(&["a", "b", "c", "d"]).await, [""; 0]);
}

pub(crate) async fn deletion_and_expiry_free_the_name(world: World) {
    let conversation = world.adopted("conv_x").await;
    let (within, turn) =
        world.turn(Destination::Conversation(conversation.clone()), &["a"], &["b"]);
    world.commit(receive(turn, "resp_w", false)).await.unwrap();
    let deleted = world.kept_as("resp_x", &["c"], &["d"]).await;
    let (expired, mut turn) = world.turn(world.anew(), &["e"], &["f"]);
    turn.response.as_mut().unwrap().created_at = 1;
    world.commit(receive(turn, "resp_y", false)).await.unwrap();

    world.delete_conversation(&conversation).await;
    world.delete_response(&deleted).await;
    assert_eq!(world.store.expire_responses(2, 9).await, Ok(1));

    for name in ["conv_x", "resp_x", "resp_y"] {
        assert_eq!(world.entry(name).await, None, "{name}");
    }
    assert!(!world.exists(&expired).await);
    assert_eq!(world.entry("resp_w").await, Some(of_response(&within, false)));
}

pub(crate) async fn any_provider_id_is_found(world: World) {
    let long = "conv_".repeat(20_000);
    for name in ["conv\u{0}x", "conv x", "conv_ä", &long] {
        let id = world.adopted(name).await;
        assert_eq!(world.entry(name).await, Some(of_conversation(&id, true)));
    }
    assert_eq!(world.entry("conv").await, None);
}

pub(crate) async fn ledgers_of_another_tenant_are_not_found(alice: World) {
    let bob = alice.seen_by("bob");
    let (conversation, response) =
        (alice.adopted("conv_x").await, alice.kept_as("resp_x", &["a"], &[]).await);
    alice.resync(&conversation, elsewhere(&["b"])).await.unwrap();

    bob.mark_stale(&conversation).await;
    assert_eq!(bob.resync(&conversation, Vec::new()).await, Err(StoreError::ConversationNotFound));
    for name in ["conv_x", "resp_x"] {
        assert_eq!(bob.entry(name).await, None);
        assert!(!bob.forget(name).await);
    }
    assert_eq!(bob.upstream_id(&response).await, None);
    let his = bob.adopted("conv_x").await;
    bob.kept_as("resp_x", &["c"], &[]).await;

    assert_eq!(bob.entry("conv_x").await, Some(of_conversation(&his, true)));
    assert_eq!(alice.entry("conv_x").await, Some(of_conversation(&conversation, false)));
    assert_eq!(alice.entry("resp_x").await, Some(of_response(&response, false)));
    assert_eq!(alice.listed(&conversation).await, ["b"]);
}

/// Every item comes back as it went in, but for its bytes.
pub(crate) async fn item_stored_elsewhere_has_its_head(world: World) {
    let conversation = world.adopted("conv_x").await;
    let call =
        r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"}"#;
    let given =
        vec![saying("a", "hello").without_body(), super::world::held("fc_1", call).without_body()];

    world.resync(&conversation, given.clone()).await.unwrap();
    let (id, mut turn) = world.turn(Destination::Conversation(conversation.clone()), &[], &[]);
    turn.output = elsewhere(&["b"]);
    world.commit(receive(turn, "resp_x", false)).await.unwrap();

    let held = world.store.transcript(&world.tenant, world.tip(&conversation).await).await;
    assert_eq!(held, Ok([given, elsewhere(&["b"])].concat()));
    assert_eq!(world.store.output_items(&world.tenant, &id).await, Ok(elsewhere(&["b"])));
    assert!(world.delete_item(&conversation, "a").await);
    assert_eq!(world.before(world.tip(&conversation).await).await, ["†a", "fc_1", "b"]);
    let again = world.append(&conversation, &["b"]).await;
    assert_eq!(again, Err(StoreError::DuplicateItem("msg_b".into())));
}

pub(crate) async fn item_stored_elsewhere_is_not_located(world: World) {
    let (one, other) = (world.adopted("conv_1").await, world.adopted("conv_2").await);
    let locate = async || world.store.locate(&world.tenant, &["msg_a".into()]).await;
    world.resync(&one, elsewhere(&["a"])).await.unwrap();
    assert_eq!(locate().await, Ok(Vec::new()));

    let own = world.conversation(&["a"]).await;
    world.resync(&other, elsewhere(&["a"])).await.unwrap();
    assert_eq!(locate().await, Ok(items(&["a"])), "the copy that is here, though not the newest");

    world.delete_item(&own, "a").await;
    assert_eq!(locate().await, Ok(Vec::new()), "it lives elsewhere: it was not deleted");

    world.delete_item(&one, "a").await;
    world.delete_item(&other, "a").await;
    assert!(locate().await.unwrap().iter().all(HeldItem::is_tombstone));
    assert_eq!(locate().await.unwrap().len(), 1);
}

pub(crate) async fn ledger_differs_from_local_conversation(world: World) {
    let is_ledger =
        async |subject| world.ledgers().is_ledger(&world.tenant, &subject).await.unwrap();
    let conversation = world.adopted("conv_x").await;
    let response = world.kept_as("resp_x", &["a"], &["b"]).await;
    assert!(is_ledger(LedgerSubject::Conversation(conversation.clone())).await);
    assert!(is_ledger(LedgerSubject::Response(response)).await);

    let own = world.conversation(&["a"]).await;
    assert!(!is_ledger(LedgerSubject::Conversation(own)).await);
    assert!(world.forget("conv_x").await);
    assert!(!is_ledger(LedgerSubject::Conversation(conversation)).await);
}

pub(crate) async fn generated_items_differ_from_input(world: World) {
    let conversation = world.adopted("conv_x").await;
    let made = |name: &str| HeldItem {
        origin: Some(antiphon::Origin::new("theirs")),
        ..saying(name, name).without_body()
    };
    world.resync(&conversation, vec![made("a"), made("b"), made("c")]).await.unwrap();
    world.append(&conversation, &["said"]).await.unwrap();
    assert!(world.delete_item(&conversation, "b").await);

    let asked = ["msg_c", "msg_said", "msg_b", "msg_of_nobody", "msg_a"].map(Into::into);
    let found = world.ledgers().find_generated(&world.tenant, &asked).await.unwrap();
    assert_eq!(found, ["msg_c".into(), "msg_a".into()]);
    assert_eq!(world.ledgers().find_generated(&world.tenant, &[]).await, Ok(Vec::new()));
}
