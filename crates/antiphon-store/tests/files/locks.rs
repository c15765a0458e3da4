//! Which names of an open file are refused.

use std::fs;
use std::path::Path;

use antiphon_store::SqliteStore;

use crate::File;
use crate::conformance::World;

/// Asserts that the file is refused under this name.
fn assert_refused(path: &Path) {
    let refusal = SqliteStore::open(path).unwrap_err().to_string();
    assert!(refusal.contains("another process has it open"), "{refusal}");
}

#[tokio::test]
async fn locked_file_is_rejected_under_every_name() {
    let file = File::new();
    let path = file.path();
    let folder = path.parent().unwrap().to_owned();
    let world = World::at(file).await;
    let hard = folder.join("hard.db");
    fs::hard_link(&path, &hard).unwrap();

    assert_refused(&path);
    assert_refused(&hard);
    // On Windows, a user may need a privilege to create a symbolic link.
    #[cfg(unix)]
    {
        let soft = folder.join("soft.db");
        std::os::unix::fs::symlink(&path, &soft).unwrap();
        assert_refused(&soft);
    }

    let id = world.conversation(&["a"]).await;
    assert_eq!(world.listed(&id).await, ["a"], "the store that has it works on");
}

#[cfg(any(target_os = "linux", windows))]
#[tokio::test]
async fn locked_file_is_rejected_without_lock_file() {
    let file = File::new();
    let path = file.path();
    let world = World::at(file).await;

    fs::remove_file(path.with_extension("db.lock")).unwrap();

    assert_refused(&path);
    world.store.close().await;
}

#[tokio::test]
async fn dropped_store_releases_its_file() {
    let file = File::new();
    let path = file.path();
    let world = World::at(file).await;
    world.conversation(&["a"]).await;

    drop(world.store);

    SqliteStore::open(&path).unwrap();
}
