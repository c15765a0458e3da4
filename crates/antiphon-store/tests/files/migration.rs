//! Files of earlier releases.

use antiphon_store::Usage;
use rusqlite::Connection;

use crate::File;
use crate::conformance::World;
use crate::conformance::erasure::EVERYTHING;
use crate::conformance::world::items;

/// Makes the tables those of the release before counts were kept.
const WITHOUT_COUNTS: &str = "
    DROP INDEX responses_by_copy;
    ALTER TABLE responses DROP COLUMN copy;
    ALTER TABLE responses DROP COLUMN copy_until;
    ALTER TABLE openings DROP COLUMN copy;
    ALTER TABLE openings DROP COLUMN copy_until;
    DROP INDEX watches_by_time;
    DROP TRIGGER items_added;
    DROP TRIGGER items_deleted;
    DROP TRIGGER items_erased;
    DROP TABLE tenant_usage;
    PRAGMA user_version = 7";

#[tokio::test]
async fn migration_counts_items_of_earlier_file() {
    let file = File::new();
    let path = file.path();
    let alice = World::at(file).await;
    let bob = alice.seen_by("bob");
    alice.has_everything().await;
    let conversation = bob.conversation(&["a", "b"]).await;
    alice.store.close().await;
    drop(bob);
    Connection::open(&path).unwrap().execute_batch(WITHOUT_COUNTS).unwrap();

    let alice = alice.reopened().await;
    let bob = alice.seen_by("bob");

    let held = alice.held(&EVERYTHING).await;
    let held: Vec<&str> = held.iter().map(String::as_str).collect();
    let store = &alice.store;
    assert_eq!(store.usage(&alice.tenant).await, Ok(Usage::from_items(&items(&held))));
    assert_eq!(store.usage(&bob.tenant).await, Ok(Usage::from_items(&items(&["a", "b"]))));
    bob.append(&conversation, &["c"]).await.unwrap();
    bob.delete_item(&conversation, "a").await;
    assert_eq!(store.usage(&bob.tenant).await, Ok(Usage::from_items(&items(&["b", "c"]))));
}
