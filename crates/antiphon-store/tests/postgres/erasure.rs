//! An erasure while processes have the database open.

use antiphon_store::{DataCounts, Destination, StoreError, Tenant};

use super::database::Database;
use crate::conformance::erasure::NOW;
use crate::conformance::world::items;

/// For each table with a column `tenant`, its name and a statement that inserts a row of mallory's:
/// what nothing else is known of has any value. Two tables want one of two columns.
const ROWS: &str = r"
    SELECT table_name || ' ' || format(
        'INSERT INTO %I (%s) VALUES (%s)',
        table_name,
        string_agg(quote_ident(column_name), ', '),
        string_agg(CASE
            WHEN column_name = 'tenant' THEN '''mallory'''
            WHEN data_type = 'boolean' THEN 'false'
            WHEN data_type = 'text' THEN '''x'''
            WHEN data_type = 'bytea' THEN '''\x01'''
            WHEN data_type = 'ARRAY' THEN '''{}'''
            WHEN data_type LIKE 'timestamp%' THEN 'now()'
            ELSE '1'
        END, ', ')
    )
    FROM information_schema.columns
    WHERE table_name IN (
        SELECT relname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE attname = 'tenant' AND relkind IN ('r', 'p') AND NOT relispartition
          AND relnamespace = current_schema()::regnamespace AND relname <> 'erasures'
    ) AND (is_nullable = 'NO' OR column_name IN ('thread', 'work'))
    GROUP BY table_name";

#[tokio::test]
async fn every_tenant_table_is_counted_and_erased() {
    let database = Database::new().await;
    let store = database.process().await.world.store;
    let rows = database.sql(ROWS).await;
    assert!(rows.len() >= 8, "{rows:?}");
    let mallory = Tenant::new("mallory");
    for row in rows {
        let (table, insertion) = row.split_once(' ').unwrap();
        database.sql(insertion).await;

        let mut snapshot = antiphon_store::snapshot(&database.store_url()).await.unwrap();
        let found = snapshot.next_tenant(None).await.unwrap();
        assert_eq!(found.as_ref(), Some(&mallory), "{table}");
        let held = snapshot.count_data(&mallory).await.unwrap();
        assert_ne!(held, DataCounts::default(), "{table}");
        while !store.erase(&mallory, NOW, 10).await.unwrap().is_nothing() {}

        let left = format!("SELECT count(*) FROM {table} WHERE tenant = 'mallory'");
        assert_eq!(database.sql(&left).await, ["0"], "{table}");
    }
}

#[tokio::test]
async fn pending_turn_of_erased_tenant_cannot_be_committed() {
    let one = Database::new().await.process().await;
    let other = one.beside().await;
    let world = &one.world;
    let conversation = world.conversation(&["a"]).await;
    let first = world.first(&["b"], &["c"]).await;
    let destinations = [
        Destination::Conversation(conversation.clone()),
        world.destination_after(world.end(&first).await),
        Destination::New { shard: world.shard(), thread: world.thread() },
    ];
    let open: Vec<_> =
        destinations.map(|destination| world.turn(destination, &["d"], &[]).1).into();
    for turn in &open {
        world.record_pending(turn).await;
    }
    let (_, mut unrecorded) = world.turn(Destination::Conversation(conversation), &["e"], &["f"]);
    unrecorded.response = None;

    other.world.erase(100).await;

    for mut turn in open {
        turn.output = items(&["g"]);
        assert_eq!(world.commit(turn).await, Err(StoreError::Erased));
    }
    assert_eq!(world.commit(unrecorded).await, Err(StoreError::ConversationNotFound));
    assert_eq!(other.world.held(&["a", "b", "c", "d", "e", "f", "g"]).await, [""; 0]);
    assert_eq!(other.world.erase(100).await, []);
}

#[tokio::test]
async fn erasure_is_recorded_for_a_day() {
    let process = Database::new().await.process().await;
    let (store, database) = (&process.world.store, &process.database);
    process.world.erase(100).await;
    assert_eq!(database.sql("SELECT tenant FROM erasures").await, ["alice"]);
    store.settle_pending_turns().await.unwrap();
    assert_eq!(database.sql("SELECT tenant FROM erasures").await, ["alice"]);

    database.sql("UPDATE erasures SET noted_at = now() - interval '25 hours'").await;
    store.settle_pending_turns().await.unwrap();

    assert_eq!(database.sql("SELECT tenant FROM erasures").await, [""; 0]);
}

#[tokio::test]
async fn snapshot_requires_the_current_schema() {
    let database = Database::new().await;
    let refusal = async || match antiphon_store::snapshot(&database.store_url()).await {
        Ok(_) => panic!("there is none"),
        Err(refusal) => refusal.to_string(),
    };
    assert!(refusal().await.contains("holds no store of Antiphon's"), "{}", refusal().await);

    database.process().await.world.store.close().await;
    for (change, sentence) in [("- 1", "an earlier version"), ("+ 2", "a newer version")] {
        database.sql(&format!("UPDATE antiphon_schema SET version = version {change}")).await;
        assert!(refusal().await.contains(sentence), "{}", refusal().await);
    }
}

#[tokio::test]
async fn snapshot_does_not_register_a_process() {
    let database = Database::new().await;
    let _store = database.process().await;
    let rows = "SELECT id FROM holders UNION ALL SELECT id FROM sessions";
    let before = database.sql(rows).await;

    let _snapshot = antiphon_store::snapshot(&database.store_url()).await.unwrap();

    assert_eq!(database.sql(rows).await, before);
}
