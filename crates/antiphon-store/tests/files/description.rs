//! The description of a file, for an operator.

use antiphon_store::{SqliteStore, StoreDescription, describe};

use crate::File;

async fn described(file: &File) -> StoreDescription {
    describe(&format!("sqlite:{}", file.path().display())).await.unwrap()
}

#[tokio::test]
async fn description_creates_nothing_and_names_the_software() {
    let file = File::new();
    let absent = described(&file).await;
    assert!(absent.software.starts_with("SQLite 3."), "{absent:?}");
    assert_eq!((absent.tables, absent.shared_files), (None, Vec::new()));
    assert!(absent.free_bytes.is_some_and(|bytes| bytes > 0) || cfg!(target_os = "macos"));
    assert!(!file.path().exists());

    let memory = describe("sqlite::memory:").await.unwrap();
    assert_eq!((memory.tables, memory.free_bytes), (None, None));
}

#[tokio::test]
async fn description_of_an_open_file_has_its_tables() {
    let file = File::new();
    let _open = SqliteStore::open(&file.path()).unwrap();
    let current = described(&file).await;
    assert_eq!(current.tables, Some(current.latest_tables));

    let db = rusqlite::Connection::open(file.path()).unwrap();
    db.pragma_update(None, "user_version", 1).unwrap();
    let outdated = described(&file).await;
    assert_eq!((outdated.tables, outdated.latest_tables), (Some(1), current.latest_tables));
}

#[tokio::test]
async fn directory_has_no_description() {
    let folder = tempfile::tempdir().unwrap();
    assert!(describe(&format!("sqlite:{}", folder.path().display())).await.is_err());
}
