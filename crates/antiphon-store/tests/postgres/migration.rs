//! Databases of earlier releases.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use antiphon_store::{PostgresStore, SqliteStore, Store, Tenant, Usage};
use async_trait::async_trait;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::database::Database;
use crate::conformance::contents::contents;
use crate::conformance::{StoreLocation, World};

/// A file with a long random history, of the last release that stored each item in a row of its
/// own.
const DUMP: &str = include_str!("../fixtures/segments/before.sql");
/// After everything in the file.
const LATER: i64 = 1 << 40;

/// The steps of the schema up to that release.
const STEPS: [&str; 9] = [
    include_str!("../../src/postgres/schema.sql"),
    include_str!("../../src/postgres/retention.sql"),
    include_str!("../../src/postgres/background.sql"),
    include_str!("../../src/postgres/webhooks.sql"),
    include_str!("../../src/postgres/ledgers.sql"),
    include_str!("../../src/postgres/late_binding.sql"),
    include_str!("../../src/postgres/usage.sql"),
    include_str!("../../src/postgres/watches.sql"),
    include_str!("../../src/postgres/copies.sql"),
];
/// The number of steps before the database counted the items of each tenant.
const WITHOUT_COUNTS: usize = 6;

/// Each table of a database, and the query that reads its rows from the file. Columns that the
/// table does not have are skipped.
const TABLES: [(&str, &str); 10] = [
    (
        "threads",
        "SELECT *, '{' || (SELECT coalesce(group_concat(value ->> 0), '')
                           FROM json_each(lineage)) || '}' AS lineage,
                '{' || (SELECT coalesce(group_concat(value ->> 1), '')
                        FROM json_each(lineage)) || '}' AS uptos
         FROM (SELECT tenant, shard, thread, parent, base, tip, named, last_request, last_from,
                      lineage FROM threads)",
    ),
    ("items", "SELECT * FROM items"),
    ("conversations", "SELECT * FROM conversations"),
    ("responses", "SELECT * FROM responses ORDER BY rowid"),
    ("openings", "SELECT *, 'gone' AS holder FROM openings ORDER BY ordinal"),
    (
        "opening_items",
        "SELECT *, id AS opening FROM (
             SELECT tenant, shard, id, position, item_id, own_id, kind, call_id, role, flags,
                    fingerprint, origin, body
             FROM opening_items JOIN openings ON ordinal = opening
         )",
    ),
    ("jobs", "SELECT *, '' AS holder FROM jobs ORDER BY ordinal"),
    ("events", "SELECT * FROM events"),
    ("notices", "SELECT * FROM notices"),
    ("ledgers", "SELECT *, provider_id AS name FROM ledgers"),
];

const AFTER: &str = "
    UPDATE ledgers SET name = sha256(provider_id);
    SELECT setval('copies', (SELECT max(copy) FROM items)),
           setval('ordinals', 1 + (SELECT max(ordinal) FROM (
               SELECT ordinal FROM openings UNION ALL SELECT ordinal FROM responses
               UNION ALL SELECT ordinal FROM jobs
           ) AS all_ordinals))";

/// A database after so many steps of the schema, with the contents of the file.
async fn earlier(steps: usize) -> (Database, Connection) {
    let database = Database::new().await;
    let version = format!(
        "CREATE TABLE antiphon_schema (
             is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), version integer NOT NULL
         );
         INSERT INTO antiphon_schema (version) VALUES ({steps})"
    );
    database.sql(&version).await;
    for step in &STEPS[..steps] {
        database.sql(&format!("BEGIN; {step}; COMMIT")).await;
    }
    let file = Connection::open_in_memory().unwrap();
    file.execute_batch(DUMP).unwrap();
    for (table, query) in TABLES {
        let rows = rows(&database, &file, table, query).await;
        database.sql(&rows).await;
    }
    database.sql(AFTER).await;
    (database, file)
}

/// The statements that insert the rows of the query into the table.
async fn rows(database: &Database, file: &Connection, table: &str, query: &str) -> String {
    let columns = format!(
        "SELECT column_name || ' ' || data_type FROM information_schema.columns
         WHERE table_name = '{table}'"
    );
    let columns = database.sql(&columns).await;
    let kind = |name: &str| columns.iter().find_map(|it| it.strip_prefix(&format!("{name} ")));
    let mut statement = file.prepare(query).unwrap();
    let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut found = statement.query([]).unwrap();
    let mut sql = String::new();
    while let Some(row) = found.next().unwrap() {
        let mut fields: Vec<(&str, String)> = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let Some(kind) = kind(name) else { continue };
            fields.retain(|(earlier, _)| earlier != name);
            fields.push((name, literal(row.get_ref(at).unwrap(), kind)));
        }
        let (names, values): (Vec<&str>, Vec<String>) = fields.into_iter().unzip();
        let (names, values) = (names.join(", "), values.join(", "));
        writeln!(sql, "INSERT INTO {table} ({names}) VALUES ({values});").unwrap();
    }
    sql
}

/// A value of the file as a literal of this type.
fn literal(value: ValueRef<'_>, kind: &str) -> String {
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(r"'\x".to_owned(), |hex, byte| hex + &format!("{byte:02x}")) + "'"
    };
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) if kind == "boolean" => (number != 0).to_string(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Text(text) if kind != "bytea" => {
            format!("'{}'", std::str::from_utf8(text).unwrap().replace('\'', "''"))
        }
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => hex(bytes),
        ValueRef::Real(_) => panic!("no column has fractions"),
    }
}

struct File(PathBuf);

#[async_trait]
impl StoreLocation for File {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(&self.0).unwrap())
    }

    fn url(&self) -> Option<String> {
        Some(format!("sqlite:{}", self.0.display()))
    }
}

/// The contents of a store before and after some more writes.
async fn history(world: &World) -> Vec<String> {
    let mut history = vec![contents(world).await];
    let store = world.store.clone();
    history.push(format!("settled: {:?}", store.settle_pending_turns().await));
    history.push(contents(world).await);
    history.push(format!("copies: {:?}", store.ledgers().expire_copies(20, 1 << 20).await));
    history.push(format!("expired: {:?}", store.expire_responses(1_767_225_620, 30).await));
    history.push(contents(world).await);
    history.push(format!("expired: {:?}", store.expire_responses(LATER, 1000).await));
    history.push(contents(world).await);
    let alice = Tenant::new("alice");
    while !store.erase(&alice, LATER, 7).await.unwrap().is_nothing() {}
    history.push(contents(world).await);
    history
}

/// Both stores have had the same history, so they have the same contents.
#[tokio::test]
async fn migrated_database_has_the_contents_of_a_migrated_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("antiphon.db");
    Connection::open(&path).unwrap().execute_batch(DUMP).unwrap();
    let expected = history(&World::at(File(path)).await).await;
    let (database, _) = earlier(STEPS.len()).await;

    let migrated = history(&World::at(database).await).await;

    for (migrated, expected) in migrated.iter().zip(&expected) {
        let differs = migrated.lines().zip(expected.lines()).find(|(one, other)| one != other);
        assert_eq!(differs, None);
        assert_eq!(migrated.lines().count(), expected.lines().count());
    }
}

#[tokio::test]
async fn migration_counts_items_of_earlier_database() {
    let (database, file) = earlier(WITHOUT_COUNTS).await;
    let store = PostgresStore::open(&database.store_url()).await.unwrap();

    let mut counts = file.prepare("SELECT tenant, items, bytes FROM tenant_usage").unwrap();
    let mut counts = counts.query([]).unwrap();
    while let Some(row) = counts.next().unwrap() {
        let tenant = Tenant::new(row.get_ref(0).unwrap().as_str().unwrap());
        let count = |at| row.get::<_, i64>(at).unwrap().cast_unsigned();
        let expected = Usage { items: count(1), bytes: count(2) };
        assert_eq!(store.usage(&tenant).await, Ok(expected));
    }
}

#[tokio::test]
async fn migration_waits_for_open_writers() {
    let (database, _) = earlier(STEPS.len()).await;
    let (client, connection) =
        tokio_postgres::connect(&database.url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let copy = "
        BEGIN;
        INSERT INTO items SELECT 'carol', shard, thread, seq, item_id, own_id, kind, call_id, role,
                                 flags, fingerprint, origin, body, nextval('copies')
        FROM items WHERE tenant = 'alice'";
    client.batch_execute(copy).await.unwrap();

    let url = database.store_url();
    let opening = tokio::spawn(async move { PostgresStore::open(&url).await.unwrap() });
    database.waited_for("items").await;
    client.batch_execute("COMMIT").await.unwrap();

    let store = opening.await.unwrap();
    let (alice, carol) = (Tenant::new("alice"), Tenant::new("carol"));
    let usage = store.usage(&alice).await.unwrap();
    assert_ne!(usage, Usage::default());
    assert_eq!(store.usage(&carol).await, Ok(usage));
    let mut snapshot = antiphon_store::snapshot(&database.store_url()).await.unwrap();
    let counts = snapshot.count_data(&carol).await.unwrap();
    assert_eq!(counts.items, usage.items);
}
