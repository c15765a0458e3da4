//! Files of earlier releases.

use antiphon_store::{Tenant, Usage};
use rusqlite::Connection;

use super::release::DUMP;
use crate::File;
use crate::conformance::World;
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

fn counts(db: &Connection) -> Vec<(String, i64, i64)> {
    let mut statement = db.prepare("SELECT tenant, items, bytes FROM tenant_usage").unwrap();
    let counts = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    counts.unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn migration_counts_items_of_earlier_file() {
    let file = File::new();
    let db = Connection::open(file.path()).unwrap();
    db.execute_batch(DUMP).unwrap();
    let counts = counts(&db);
    assert_eq!(counts.len(), 2);
    db.execute_batch(WITHOUT_COUNTS).unwrap();
    drop(db);

    let alice = World::at(file).await;

    let store = &alice.store;
    for (tenant, items, bytes) in counts {
        let expected = Usage { items: items.cast_unsigned(), bytes: bytes.cast_unsigned() };
        assert_eq!(store.usage(&Tenant::new(tenant)).await, Ok(expected));
    }
    let carol = alice.seen_by("carol");
    let conversation = carol.conversation(&["a", "b"]).await;
    carol.append(&conversation, &["c"]).await.unwrap();
    carol.delete_item(&conversation, "a").await;
    assert_eq!(store.usage(&carol.tenant).await, Ok(Usage::from_items(&items(&["b", "c"]))));
}
