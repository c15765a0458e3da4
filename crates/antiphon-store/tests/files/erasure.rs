//! What an erasure leaves in a file.

use std::fs;

use antiphon_store::{DataCounts, Tenant};
use rusqlite::{Connection, Row};

use super::hold;
use crate::File;
use crate::conformance::erasure::NOW;
use crate::conformance::world::saying;
use crate::conformance::{StoreLocation, World};

#[tokio::test]
async fn erased_bytes_are_in_no_file() {
    let file = File::new();
    let folder = file.path().parent().unwrap().to_owned();
    let alice = World::at(file).await;
    let bob = alice.seen_by("bob");
    for (world, whisper) in [(&alice, "whispered by her"), (&bob, "whispered by him")] {
        // Of many sizes, so that entries are moved from page to page.
        for size in [1, 10, 100, 1_000, 10_000] {
            let id = world.conversation(&[]).await;
            for name in 0..20 {
                let item = saying(&name.to_string(), &format!("{whisper} ").repeat(size));
                world.store.append_items(&world.tenant, &id, vec![item]).await.unwrap();
            }
        }
    }
    let size = || fs::metadata(folder.join("antiphon.db")).unwrap().len();

    alice.erase(100).await;
    alice.store.close_rewritten().await.unwrap();

    assert!(!hold(&folder, "whispered by her"));
    assert!(hold(&folder, "whispered by him"));
    assert!(!hold(&folder, "alice"));
    assert!(size() < 6 << 20, "half of the bytes are gone: {}", size());
}

/// A row of this tenant in a table that nothing else is known of, as SQL.
fn row_of(db: &Connection, table: &str) -> String {
    let sql = format!("SELECT name, type, \"notnull\" FROM pragma_table_info('{table}')");
    let column = |row: &Row<'_>| {
        let name: String = row.get(0)?;
        let value = match (&*name, &*row.get::<_, String>(1)?) {
            ("tenant", _) => "'mallory'",
            (_, "TEXT") => "'x'",
            (_, "BLOB") => "x'01'",
            _ => "1",
        };
        // Two tables want one of two columns.
        let is_needed = row.get(2)? || name == "thread" || name == "work";
        Ok(is_needed.then_some((name, value)))
    };
    let mut statement = db.prepare(&sql).unwrap();
    let columns = statement.query_map([], column).unwrap().filter_map(Result::unwrap);
    let (names, values): (Vec<_>, Vec<_>) = columns.unzip();
    format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", "))
}

fn tables_of_tenants(db: &Connection) -> Vec<String> {
    let sql = "
        SELECT tables.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
        WHERE tables.type = 'table' AND columns.name = 'tenant'";
    let mut statement = db.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn every_tenant_table_is_counted_and_erased() {
    let file = File::new();
    file.open().await.close().await;
    let db = Connection::open(file.path()).unwrap();
    let tables = tables_of_tenants(&db);
    assert!(tables.len() >= 5, "{tables:?}");
    let mallory = Tenant::new("mallory");
    for table in tables {
        db.execute(&row_of(&db, &table), []).unwrap();

        let mut snapshot = antiphon_store::snapshot(&file.url().unwrap()).await.unwrap();
        let found = snapshot.next_tenant(None).await.unwrap();
        assert_eq!(found.as_ref(), Some(&mallory), "{table}");
        let held = snapshot.count_data(&mallory).await.unwrap();
        assert_ne!(held, DataCounts::default(), "{table}");
        let store = file.open().await;
        while !store.erase(&mallory, NOW, 10).await.unwrap().is_nothing() {}
        store.close().await;

        let left = format!("SELECT count(*) FROM {table} WHERE tenant = 'mallory'");
        assert_eq!(db.query_row(&left, [], |row| row.get(0)), Ok(0), "{table}");
    }
}

#[tokio::test]
async fn snapshot_requires_an_existing_current_file() {
    let file = File::new();
    let url = file.url().unwrap();
    let refusal = async || match antiphon_store::snapshot(&url).await {
        Ok(_) => panic!("there is none"),
        Err(refusal) => refusal.to_string(),
    };
    assert!(refusal().await.contains("unable to open database file"), "{}", refusal().await);
    assert!(!file.path().exists(), "it is not created");

    file.open().await.close().await;
    let db = Connection::open(file.path()).unwrap();
    let version: i32 = db.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    for (other, sentence) in [(version - 1, "an earlier version"), (version + 1, "a newer version")]
    {
        db.pragma_update(None, "user_version", other).unwrap();
        assert!(refusal().await.contains(sentence), "{}", refusal().await);
    }
}
