//! Who may read the files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use antiphon_store::{SqliteStore, describe};

use super::files_in;
use crate::File;
use crate::conformance::World;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
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
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();

    let world = World::at(file).await;
    world.conversation(&["a"]).await;

    assert_eq!(mode(&path), 0o640);
    assert_eq!(mode(&path.with_extension("db-wal")), 0o640, "a log has the mode of its database");
}

#[tokio::test]
async fn description_has_the_modes_of_shared_files() {
    let file = File::new();
    let _open = SqliteStore::open(&file.path()).unwrap();
    let url = format!("sqlite:{}", file.path().display());
    assert_eq!(describe(&url).await.unwrap().shared_files, []);

    fs::set_permissions(file.path(), Permissions::from_mode(0o640)).unwrap();
    assert_eq!(describe(&url).await.unwrap().shared_files, [(file.path(), 0o640)]);
}
