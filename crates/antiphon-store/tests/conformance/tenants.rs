//! What belongs to another tenant does not exist.

use antiphon_store::{Destination, ListScope, Order, PageRequest, StoreError, TurnRecord};
use bytes::Bytes;

use super::World;
use super::world::{item_id, items, saying};

const PAGE: PageRequest =
    PageRequest { after: None, limit: 9, max_bytes: usize::MAX, order: Order::Ascending };

pub(crate) async fn data_of_another_tenant_is_not_found(alice: World) {
    let conversation = alice.conversation(&["a"]).await;
    let response = alice.within(&conversation, &["b"], &["c"]).await;
    let cursor = alice.end(&response).await;
    let bob = alice.seen_by("bob");
    let (store, tenant) = (&bob.store, &bob.tenant);

    assert_eq!(store.conversation(tenant, &conversation).await, Ok(None));
    for scope in [ListScope::Conversation(conversation.clone()), ListScope::Input(response.clone())]
    {
        assert_eq!(store.list_items(tenant, &scope, &PAGE).await, Ok(None));
    }
    let item = store.item(tenant, &conversation, &item_id("a")).await;
    assert_eq!(item, Ok(None));
    assert!(!bob.exists(&response).await);
    assert_eq!(bob.output(&response).await, [""; 0]);
    assert_eq!(bob.before(cursor).await, [""; 0]);
    assert_eq!(bob.held(&["a", "b", "c"]).await, [""; 0]);
}

pub(crate) async fn data_of_another_tenant_cannot_be_changed(alice: World) {
    let conversation = alice.conversation(&["a"]).await;
    let response = alice.within(&conversation, &["b"], &["c"]).await;
    let chain = alice.first(&["d"], &["e"]).await;
    let cursor = alice.end(&chain).await;
    let (opened, pending) = alice.turn(alice.destination_after(cursor), &["f"], &[]);
    alice.record_pending(&pending).await;
    let bob = alice.seen_by("bob");
    let (store, tenant) = (&bob.store, &bob.tenant);

    let metadata = Bytes::from_static(b"{}");
    let changed = store.set_metadata(tenant, &conversation, metadata).await;
    assert_eq!(changed, Ok(None));
    let not_found = Err(StoreError::ConversationNotFound);
    assert_eq!(bob.append(&conversation, &["x"]).await, not_found);
    let (_, turn) = bob.turn(Destination::Conversation(conversation.clone()), &["x"], &[]);
    assert_eq!(bob.commit(turn).await, not_found);
    assert!(!bob.delete_item(&conversation, "a").await);
    assert!(!bob.delete_response(&response).await);
    assert!(!bob.delete_response(&chain).await);
    assert!(!bob.delete_conversation(&conversation).await);
    assert_eq!(store.drop_pending_turn(tenant, &opened).await, Ok(()));
    let (next, turn) = bob.turn(bob.destination_after(cursor), &["x"], &["y"]);
    bob.commit(turn).await.unwrap();
    assert_eq!(bob.transcript(&next).await, ["x", "y"]);

    assert_eq!(alice.listed(&conversation).await, ["a", "b", "c"]);
    assert_eq!(alice.transcript(&chain).await, ["d", "e"]);
    let (subject, _) =
        alice.store.conversation(&alice.tenant, &conversation).await.unwrap().unwrap();
    assert_eq!(subject.metadata, alice.new_conversation().metadata);
    alice.delete_response(&chain).await;
    assert_eq!(alice.held(&["d", "e"]).await, ["d", "e"], "still opened");
}

pub(crate) async fn two_tenants_can_use_the_same_ids(alice: World) {
    let bob = alice.seen_by("bob");
    let conversation = alice.new_conversation();
    let (shard, named, chain) = (alice.shard(), alice.thread(), alice.thread());
    let (in_chain, turn) = alice.turn(Destination::New { shard, thread: chain }, &["a"], &["b"]);
    for (tenant, text) in [(&alice, "hers"), (&bob, "his")] {
        let mut first = items(&["c"]);
        first.push(saying("d", text));
        tenant
            .store
            .create_conversation(&tenant.tenant, conversation.clone(), named, first)
            .await
            .unwrap();
        tenant.record_pending(&pending_of(&turn)).await;
        tenant.commit(turn.clone()).await.unwrap();
    }

    let item = |tenant: World| {
        let id = conversation.id.clone();
        async move {
            let item = tenant.store.item(&tenant.tenant, &id, &item_id("d")).await;
            item.unwrap().unwrap()
        }
    };
    assert_eq!(item(alice.clone()).await, saying("d", "hers"));
    assert_eq!(item(bob.clone()).await, saying("d", "his"));

    assert!(bob.delete_item(&conversation.id, "c").await);
    assert!(bob.delete_response(&in_chain).await);
    assert!(bob.delete_conversation(&conversation.id).await);
    assert_eq!(bob.held(&["a", "b", "c", "d"]).await, [""; 0]);
    assert_eq!(alice.held(&["a", "b", "c", "d"]).await.len(), 4);
    assert_eq!(alice.transcript(&in_chain).await, ["a", "b"]);
}

fn pending_of(turn: &TurnRecord) -> TurnRecord {
    let mut pending = turn.clone();
    pending.output.clear();
    pending
}
