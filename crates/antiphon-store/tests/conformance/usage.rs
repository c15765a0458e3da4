//! The usage of a tenant is the sum of its live items, after any sequence of writes and deletes.

use antiphon_store::{ConversationId, Destination, RequestDigest, StoreError, TurnRecord, Usage};
use tokio::task::JoinSet;

use super::World;
use super::ledgers::elsewhere;
use super::world::{items, saying};

/// How many conversations are written to at the same time.
const TASKS: usize = 16;

impl World {
    async fn usage(&self) -> Usage {
        self.store.usage(&self.tenant).await.unwrap()
    }

    async fn conversation_usage(&self, id: &ConversationId) -> Usage {
        self.store.conversation_usage(&self.tenant, id).await.unwrap()
    }
}

/// The amount of these items.
fn sum(names: &[&str]) -> Usage {
    Usage::from_items(&items(names))
}

pub(crate) async fn tenant_without_items_uses_nothing(world: World) {
    assert_eq!(world.usage().await, Usage::default());
    let empty = world.conversation(&[]).await;
    assert_eq!(world.usage().await, Usage::default());
    assert_eq!(world.conversation_usage(&empty).await, Usage::default());
    let unknown = world.new_conversation().id;
    assert_eq!(world.conversation_usage(&unknown).await, Usage::default());
}

pub(crate) async fn bytes_and_items_of_live_items_count(world: World) {
    let conversation = world.conversation(&["a", "b"]).await;
    world.append(&conversation, &["c"]).await.unwrap();
    world.within(&conversation, &["d"], &["e", "f"]).await;
    let (_, mut turn) = world.turn(world.anew(), &[], &[]);
    turn.input = vec![saying("long", &"ü".repeat(100_000))];
    let long = Usage::from_items(&turn.input);
    world.commit(turn).await.unwrap();

    assert_eq!(long.items, 1);
    assert!(long.bytes > 200_000, "bytes count, not characters: {}", long.bytes);
    assert_eq!(world.usage().await, sum(&["a", "b", "c", "d", "e", "f"]) + long);
    assert_eq!(world.seen_by("bob").usage().await, Usage::default());
}

pub(crate) async fn deleting_an_item_frees_it(world: World) {
    let conversation = world.conversation(&["a", "b"]).await;

    assert!(world.delete_item(&conversation, "a").await);
    assert!(!world.delete_item(&conversation, "a").await);

    assert_eq!(world.usage().await, sum(&["b"]));
    assert_eq!(world.conversation_usage(&conversation).await, sum(&["b"]));
    world.append(&conversation, &["a"]).await.unwrap();
    assert_eq!(world.usage().await, sum(&["a", "b"]));
}

pub(crate) async fn fork_counts_shared_items_once(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    world.after(&first, &["c"], &["d"]).await;
    world.after(&first, &["e"], &["f"]).await;

    assert_eq!(world.usage().await, sum(&["a", "b", "c", "d", "e", "f"]));
}

pub(crate) async fn each_thread_counts_its_own_copy(world: World) {
    world.first(&["a"], &["b"]).await;
    world.first(&["a"], &["b"]).await;

    assert_eq!(world.usage().await, sum(&["a", "b", "a", "b"]));
}

pub(crate) async fn conversation_counts_its_own_items_only(world: World) {
    let one = world.conversation(&["a"]).await;
    let other = world.conversation(&["b", "c"]).await;
    let turn = world.within(&one, &["d"], &["e"]).await;
    world.after(&turn, &["f"], &[]).await;

    assert_eq!(world.conversation_usage(&one).await, sum(&["a", "d", "e"]));
    assert_eq!(world.conversation_usage(&other).await, sum(&["b", "c"]));
    assert_eq!(world.seen_by("bob").conversation_usage(&one).await, Usage::default());
}

pub(crate) async fn retracted_turn_counts_for_its_tenant_only(world: World) {
    const ASKED: RequestDigest = RequestDigest([1; 16]);
    let conversation = world.conversation(&["a"]).await;
    let destination = Destination::Conversation(conversation.clone());
    let (cut, turn) = world.turn(destination, &["b"], &["c"]);
    world.commit(TurnRecord { request: Some(ASKED), ..turn }).await.unwrap();

    let fork = world.thread();
    let taken = world.store.retract(&world.tenant, &conversation, &ASKED, fork, None).await;
    assert_eq!(taken, Ok(true));

    assert_eq!(world.conversation_usage(&conversation).await, sum(&["a"]));
    assert_eq!(world.usage().await, sum(&["a", "b", "c"]));
    world.delete_response(&cut).await;
    assert_eq!(world.usage().await, sum(&["a"]));
}

pub(crate) async fn deleted_conversation_counts_until_its_responses_go(world: World) {
    let conversation = world.conversation(&["a"]).await;
    let response = world.within(&conversation, &["b"], &["c"]).await;
    world.append(&conversation, &["d"]).await.unwrap();

    world.delete_conversation(&conversation).await;

    assert_eq!(world.usage().await, sum(&["a", "b", "c"]), "the items of its response");
    assert_eq!(world.conversation_usage(&conversation).await, Usage::default());
    world.delete_response(&response).await;
    assert_eq!(world.usage().await, Usage::default());
}

pub(crate) async fn expired_responses_free_their_items(world: World) {
    let first = world.first(&["a"], &["b"]).await;
    world.after(&first, &["c"], &["d"]).await;
    world.first(&["e"], &["f"]).await;
    let conversation = world.conversation(&["g"]).await;

    assert_eq!(world.store.expire_responses(i64::MAX, 100).await, Ok(3));

    assert_eq!(world.usage().await, sum(&["g"]));
    world.delete_conversation(&conversation).await;
    assert_eq!(world.usage().await, Usage::default());
}

pub(crate) async fn items_elsewhere_count_without_bytes(world: World) {
    let (_, mut turn) = world.turn(world.anew(), &[], &["b"]);
    turn.input = elsewhere(&["a", "c"]);
    world.commit(turn).await.unwrap();

    assert_eq!(world.usage().await, sum(&["b"]) + Usage { items: 2, bytes: 0 });
}

pub(crate) async fn refused_writes_count_nothing(world: World) {
    let conversation = world.conversation(&["a"]).await;

    let appended = world.append(&conversation, &["b", "a"]).await;
    let destination = Destination::Conversation(conversation.clone());
    let committed = world.commit(world.turn(destination, &["c"], &["a"]).1).await;

    assert!(matches!(appended, Err(StoreError::DuplicateItem(_))), "{appended:?}");
    assert!(matches!(committed, Err(StoreError::DuplicateItem(_))), "{committed:?}");
    assert_eq!(world.usage().await, sum(&["a"]));
}

pub(crate) async fn erased_tenant_uses_nothing(alice: World) {
    let bob = alice.seen_by("bob");
    alice.has_everything().await;
    bob.has_everything().await;
    let before = bob.usage().await;
    assert_eq!(alice.usage().await, before);
    assert_eq!(before.items, 9);

    alice.erase(2).await;

    assert_eq!(alice.usage().await, Usage::default());
    assert_eq!(bob.usage().await, before);
    alice.conversation(&["z"]).await;
    assert_eq!(alice.usage().await, sum(&["z"]));
}

pub(crate) async fn open_turns_do_not_count(world: World) {
    let (id, mut turn) = world.turn(world.anew(), &["a"], &[]);
    world.record_pending(&turn).await;
    assert_eq!(world.usage().await, Usage::default());

    turn.output = items(&["b"]);
    world.commit(turn).await.unwrap();

    assert_eq!(world.usage().await, sum(&["a", "b"]));
    world.delete_response(&id).await;
    assert_eq!(world.usage().await, Usage::default());
}

pub(crate) async fn concurrent_writes_are_all_counted(world: World) {
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let world = world.clone();
        tasks.spawn(async move {
            let conversation = world.conversation(&["a"]).await;
            let response = world.within(&conversation, &["b"], &["c"]).await;
            world.delete_item(&conversation, "a").await;
            world.after(&response, &["d"], &["e"]).await;
            world.delete_response(&world.first(&["f"], &["g"]).await).await;
        });
    }
    tasks.join_all().await;

    let each = sum(&["b", "c", "d", "e"]);
    let all = (0..TASKS).fold(Usage::default(), |all, _| all + each);
    assert_eq!(world.usage().await, all);
}
