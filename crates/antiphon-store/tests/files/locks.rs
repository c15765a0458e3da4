//! Which names of an open file are refused, and who may read the files.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use antiphon_store::SqliteStore;

use super::files_in;
use crate::File;
use crate::conformance::World;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

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
    let (soft, hard) = (folder.join("soft.db"), folder.join("hard.db"));
    symlink(&path, &soft).unwrap();
    fs::hard_link(&path, &hard).unwrap();

    for name in [&path, &soft, &hard] {
        assert_refused(name);
    }

    let id = world.conversation(&["a"]).await;
    assert_eq!(world.listed(&id).await, ["a"], "the store that has it works on");
}

#[cfg(target_os = "linux")]
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

#[tokio::test]
async fn new_files_are_private() {
    let file = File::new();
    let path = file.path();
    let world = World::at(file).await;

    world.conversation(&["a"]).await;

    let files = files_in(path.parent().unwrap());
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn mode_of_existing_file_stays() {
    let file = File::new();
    let path = file.path();
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();

    let world = World::at(file).await;
    world.conversation(&["a"]).await;

    assert_eq!(mode(&path), 0o640);
    assert_eq!(mode(&path.with_extension("db-wal")), 0o640, "a log has the mode of its database");
}
