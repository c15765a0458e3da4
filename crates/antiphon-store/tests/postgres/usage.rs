//! Counts of items that several processes change.

use antiphon_store::{Tenant, Usage};

use super::database::Database;
use crate::conformance::erasure::NOW;
use crate::conformance::world::items;

fn sum(names: &[&str]) -> Usage {
    Usage::from_items(&items(names))
}

#[tokio::test]
async fn empty_tenant_is_not_listed() {
    let database = Database::new().await;
    let one = database.process().await;
    let other = one.beside().await;
    let conversation = one.world.conversation(&["a", "b"]).await;
    other.world.append(&conversation, &["c"]).await.unwrap();
    other.world.delete_conversation(&conversation).await;

    let mut snapshot = antiphon_store::snapshot(&database.store_url()).await.unwrap();

    assert_eq!(snapshot.next_tenant(None).await, Ok(None));
    assert!(snapshot.count_data(&one.world.tenant).await.unwrap().is_nothing());
    assert_eq!(snapshot.usage(&one.world.tenant).await, Ok(Usage::default()));
    one.world.erase(100).await;
    assert_eq!(database.sql("SELECT tenant FROM tenant_usage").await, [""; 0]);
}

#[tokio::test]
async fn counts_stay_while_items_exist() {
    let database = Database::new().await;
    let world = database.process().await.world;
    let mallory = Tenant::new("mallory");
    let of_mallory = world.seen_by("mallory");
    of_mallory.conversation(&["a"]).await;
    database
        .sql("INSERT INTO tenant_usage VALUES ('mallory', 99, 5, 5), ('mallory', 98, -5, -5)")
        .await;
    assert_eq!(world.store.usage(&mallory).await, Ok(sum(&["a"])));

    while !world.store.erase(&mallory, NOW, 10).await.unwrap().is_nothing() {}

    assert_eq!(database.sql("SELECT slot FROM tenant_usage").await, [""; 0]);
}
