//! Counts of items that several processes change.

use antiphon_store::{PostgresStore, Store, Tenant, Usage};

use super::database::Database;
use crate::conformance::erasure::{EVERYTHING, NOW};
use crate::conformance::world::items;

/// Makes the tables those of the release before counts were kept.
const WITHOUT_COUNTS: &str = "
    ALTER TABLE responses DROP COLUMN copy, DROP COLUMN copy_until;
    ALTER TABLE openings DROP COLUMN copy, DROP COLUMN copy_until;
    DROP INDEX watches_by_time;
    DROP TRIGGER items_added ON items;
    DROP TRIGGER items_deleted ON items;
    DROP TRIGGER items_erased ON items;
    DROP FUNCTION count_added_items, count_deleted_items, count_erased_item;
    DROP TABLE tenant_usage;
    UPDATE antiphon_schema SET version = 6";

fn sum(names: &[&str]) -> Usage {
    Usage::from_items(&items(names))
}

#[tokio::test]
async fn migration_counts_items_during_writes() {
    let database = Database::new().await;
    let old = database.process().await.world;
    old.has_everything().await;
    let conversation = old.conversation(&["x", "y"]).await;
    database.sql(WITHOUT_COUNTS).await;

    let new = PostgresStore::open(&database.store_url()).await.unwrap();

    let held = old.held(&EVERYTHING).await;
    let held: Vec<&str> = held.iter().map(String::as_str).collect();
    assert_eq!(new.usage(&old.tenant).await, Ok(sum(&held) + sum(&["x", "y"])));
    // The process of the earlier release still writes, and the database counts.
    old.append(&conversation, &["z"]).await.unwrap();
    old.delete_item(&conversation, "x").await;
    assert_eq!(new.usage(&old.tenant).await, Ok(sum(&held) + sum(&["y", "z"])));
}

#[tokio::test]
async fn migration_waits_for_open_writers() {
    let database = Database::new().await;
    let world = database.process().await.world;
    world.conversation(&["a"]).await;
    database.sql(WITHOUT_COUNTS).await;
    let (client, connection) =
        tokio_postgres::connect(&database.url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let copy = "
        BEGIN;
        INSERT INTO items SELECT tenant, shard, thread, seq + 1, 'other', own_id, kind, call_id,
                                 role, flags, fingerprint, origin, body, copy + 1
        FROM items";
    client.batch_execute(copy).await.unwrap();

    let url = database.store_url();
    let opening = tokio::spawn(async move { PostgresStore::open(&url).await.unwrap() });
    database.waited_for("items").await;
    client.batch_execute("COMMIT").await.unwrap();

    let new = opening.await.unwrap();
    assert_eq!(new.usage(&world.tenant).await, Ok(sum(&["a", "a"])));
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
