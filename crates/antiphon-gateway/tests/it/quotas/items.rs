//! Items that are added without a turn.

use serde_json::{Value, json};

use super::{Bound, QUOTAS, add, assert_refused, items};
use crate::support::{World, typed_user};

#[tokio::test]
async fn added_items_are_rejected_beyond_each_quota() {
    for quota in QUOTAS {
        let world = quota.world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        client.add_items(&conversation, &[typed_user("One")]).await;
        let two = [typed_user("Two"), typed_user("Three")];

        assert_refused(&add(&client, &conversation, &two).await, quota);

        let held = client.items(&conversation).await;
        assert_eq!(held.len(), 1, "{quota:?}: all or none is added");
    }
}

#[tokio::test]
async fn items_fill_a_quota_to_its_last() {
    let world = World::with(|settings| {
        settings.limits.conversation_quota = items(3);
        settings.limits.tenant_quota = items(4);
    })
    .await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.add_items(&conversation, &[typed_user("One"), typed_user("Two")]).await;
    client.add_items(&conversation, &[typed_user("Three")]).await;

    let four = [typed_user("Four")];
    assert_refused(&add(&client, &conversation, &four).await, Bound::ConversationItems);
    let other = client.new_conversation().await;
    client.add_items(&other, &four).await;
    assert_refused(&add(&client, &other, &four).await, Bound::TenantItems);

    let item = &client.items(&conversation).await[0];
    let path = format!("/v1/conversations/{conversation}/items/{}", item["id"].as_str().unwrap());
    assert_eq!(client.delete(&path).await.status(), 200);
    client.add_items(&conversation, &four).await;
}

#[tokio::test]
async fn conversation_is_created_within_its_quotas_only() {
    for quota in QUOTAS {
        let world = quota.world().await;
        let client = world.client();
        let three: Value = (0..3).map(|nth| typed_user(&format!("Message {nth}"))).collect();

        let answer = client.post("/v1/conversations", &json!({"items": three})).await;

        assert_refused(&answer, quota);
        let one = json!({"items": [typed_user("One")]});
        assert_eq!(client.post("/v1/conversations", &one).await.status(), 200);
        if quota.is_of_tenant() {
            assert_refused(
                &client.post("/v1/conversations", &json!({"items": three})).await,
                quota,
            );
        }
        // An empty one holds nothing.
        client.new_conversation().await;
    }
}

#[tokio::test]
async fn items_are_unlimited_without_quotas() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    for nth in 0..5 {
        let items: Vec<Value> =
            (0..20).map(|at| typed_user(&format!("{nth} {at} {}", "x".repeat(1000)))).collect();
        client.add_items(&conversation, &items).await;
    }
    assert_eq!(client.items(&conversation).await.len(), 100);
}
