//! Conversations.

use antiphon_store::{Destination, ListScope, Order, PageRequest, StoreError};
use bytes::Bytes;

use super::World;
use super::world::{item_id, items};

pub(crate) async fn conversation_is_stored_as_given(world: World) {
    let (store, tenant) = (&world.store, &world.tenant);
    let given = world.new_conversation();
    let thread = world.thread();
    store.create_conversation(tenant, given.clone(), thread, items(&["a", "b"])).await.unwrap();

    let (subject, tip) = store.conversation(tenant, &given.id).await.unwrap().unwrap();
    assert_eq!(subject, given);
    assert_eq!((tip.shard, tip.thread, tip.end), (given.id.shard(), thread, 2));
    assert_eq!(world.listed(&given.id).await, ["a", "b"]);
    let b = store.item(tenant, &given.id, &item_id("b")).await.unwrap();
    assert_eq!(b, items(&["b"]).pop());
}

pub(crate) async fn metadata_is_replaced(world: World) {
    let (store, tenant) = (&world.store, &world.tenant);
    let id = world.conversation(&[]).await;
    let metadata = Bytes::from_static(br#"{ "topic" : "coffee" }"#);

    let changed = store.set_metadata(tenant, &id, metadata.clone()).await;

    let changed = changed.unwrap().unwrap();
    assert_eq!(changed.metadata, metadata);
    let (subject, _) = store.conversation(tenant, &id).await.unwrap().unwrap();
    assert_eq!(subject, changed);
}

pub(crate) async fn turns_and_appends_go_to_the_end(world: World) {
    let id = world.conversation(&["a"]).await;
    let first = world.within(&id, &["b"], &["c"]).await;
    world.append(&id, &["d"]).await.unwrap();
    world.append(&id, &[]).await.unwrap();
    let second = world.within(&id, &["e"], &["f"]).await;

    assert_eq!(world.listed(&id).await, ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(world.tip(&id).await.end, 6);
    assert_eq!(world.transcript(&first).await, ["a", "b", "c"]);
    assert_eq!(world.output(&second).await, ["f"]);
    assert_eq!(world.before(world.tip(&id).await).await.len(), 6);
}

pub(crate) async fn missing_conversation_is_reported(world: World) {
    let (store, tenant) = (&world.store, &world.tenant);
    let shard = world.shard();
    let (conversation, response) = (world.conversation_id(shard), world.response_id(shard));
    let page =
        PageRequest { after: None, limit: 1, max_bytes: usize::MAX, order: Order::Ascending };

    assert_eq!(store.conversation(tenant, &conversation).await, Ok(None));
    let metadata = Bytes::from_static(b"{}");
    let changed = store.set_metadata(tenant, &conversation, metadata).await;
    assert_eq!(changed, Ok(None));
    assert!(!world.delete_conversation(&conversation).await);
    assert_eq!(world.append(&conversation, &["a"]).await, Err(StoreError::ConversationNotFound));
    for scope in [ListScope::Conversation(conversation.clone()), ListScope::Input(response.clone())]
    {
        assert_eq!(store.list_items(tenant, &scope, &page).await, Ok(None));
    }
    let item = store.item(tenant, &conversation, &item_id("a")).await;
    assert_eq!(item, Ok(None));
    assert!(!world.delete_item(&conversation, "a").await);
    assert!(!world.exists(&response).await);
    assert_eq!(world.output(&response).await, [""; 0]);
    assert!(!world.delete_response(&response).await);
    assert_eq!(world.held(&["a"]).await, [""; 0]);
    assert_eq!(store.drop_pending_turn(tenant, &response).await, Ok(()));
    assert_eq!(store.settle_pending_turns().await, Ok(0));
}

pub(crate) async fn turn_in_deleted_conversation_is_rejected(world: World) {
    let id = world.conversation(&["a"]).await;
    let (response, turn) = world.turn(Destination::Conversation(id.clone()), &["b"], &["c"]);
    assert!(world.delete_conversation(&id).await);

    let refusal = world.commit(turn).await;

    assert_eq!(refusal, Err(StoreError::ConversationNotFound));
    assert!(!world.exists(&response).await);
    assert_eq!(world.held(&["a", "b", "c"]).await, [""; 0]);
    assert!(!world.delete_conversation(&id).await);
}

pub(crate) async fn response_names_its_conversation(world: World) {
    let id = world.conversation(&[]).await;
    let response = world.within(&id, &["a"], &["b"]).await;
    world.delete_conversation(&id).await;

    let record = world.store.response(&world.tenant, &response).await;

    let record = record.unwrap().unwrap();
    assert_eq!(record.response.conversation, Some(id));
}
