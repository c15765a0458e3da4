//! What databases like to change, they keep.

use antiphon::{Body, CallId, HeldItem, ItemId, Kind, Origin};

use super::database::Database;
use crate::conformance::World;
use crate::conformance::world::item;

/// Texts that PostgreSQL's `text` or an index of it would refuse.
fn odd_texts() -> [String; 4] {
    ["\0".into(), "a\0b".into(), "ö\u{10ffff}".into(), "long ".repeat(4000)]
}

fn odd_items() -> Vec<HeldItem> {
    let odd = odd_texts().into_iter().enumerate();
    odd.map(|(at, text)| {
        let mut odd = item(&at.to_string());
        odd.id = ItemId::from(text.as_str());
        odd.head.id = Some(ItemId::from(format!("{text}own")));
        odd.head.kind = Kind::parse(&text);
        odd.head.call_id = Some(CallId::from(text.as_str()));
        odd.origin = Some(Origin::new(text.as_str()));
        odd.body = Body::Stored(text.clone().into_bytes().into());
        odd
    })
    .collect()
}

#[tokio::test]
async fn any_client_text_is_returned_unchanged() {
    let world = World::at(Database::new().await).await;
    let (store, tenant) = (&world.store, &world.tenant);
    let id = world.conversation(&[]).await;
    let given = odd_items();

    store.append_items(tenant, &id, given.clone()).await.unwrap();

    assert_eq!(store.transcript(tenant, world.tip(&id).await).await, Ok(given.clone()));
    for item in given {
        assert_eq!(store.item(tenant, &id, &item.id).await, Ok(Some(item.clone())));
        let located = store.locate(tenant, std::slice::from_ref(&item.id)).await;
        assert_eq!(located, Ok(vec![item]));
    }
}

#[tokio::test]
async fn json_is_stored_byte_for_byte() {
    let world = World::at(Database::new().await).await;
    let (store, tenant) = (&world.store, &world.tenant);
    let mut conversation = world.new_conversation();
    conversation.metadata = r#" { "b":1, "a" : "\u0000", "b": 1e400 } "#.into();
    let id = conversation.id.clone();

    store
        .create_conversation(tenant, conversation.clone(), world.thread(), Vec::new())
        .await
        .unwrap();

    let (subject, _) = store.conversation(tenant, &id).await.unwrap().unwrap();
    assert_eq!(subject, conversation);
}
