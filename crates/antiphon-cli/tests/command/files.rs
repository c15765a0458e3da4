//! The database file: who may read it, and that one gateway at a time uses it, by whatever name.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use rusqlite::Connection;

use super::disk::{ANY_PORT, FILE, conversation, held, left_behind, refused};
use crate::world::{Serving, World};

/// A gateway that serves on its file, and the path of one of its conversations.
fn serving() -> (Serving, String) {
    let serving = World::serve(&ANY_PORT).ready();
    let conversation = conversation(&serving);
    (serving, conversation)
}

/// Asserts that no second gateway starts on `file` while `first` serves on it.
fn assert_first_alone(file: &Path, (first, conversation): &(Serving, String)) {
    let sentence = refused(file);
    assert!(sentence.contains("another process has it open"), "{sentence}");
    assert_eq!(held(first, conversation), 0, "the first one serves on");
}

#[test]
fn second_gateway_through_a_symbolic_link_is_rejected() {
    let first = serving();
    let link = first.0.directory().join("link.db");
    symlink(first.0.directory().join(FILE), &link).unwrap();

    assert_first_alone(&link, &first);
}

#[cfg(target_os = "linux")]
#[test]
fn second_gateway_through_a_hard_link_is_rejected() {
    let first = serving();
    let link = first.0.directory().join("link.db");
    fs::hard_link(first.0.directory().join(FILE), &link).unwrap();

    assert_first_alone(&link, &first);
}

#[cfg(target_os = "linux")]
#[test]
fn second_gateway_is_rejected_without_the_lock_file() {
    let first = serving();
    let file = first.0.directory().join(FILE);
    fs::remove_file(file.with_extension("db.lock")).unwrap();

    assert_first_alone(&file, &first);
}

#[test]
fn files_are_private_under_any_umask() {
    for umask in ["000", "777"] {
        let serving = World::serve_under_umask(umask, &ANY_PORT).ready();
        conversation(&serving);

        for name in [FILE, "antiphon.db-wal", "antiphon.db-shm", "antiphon.db.lock"] {
            let file = fs::metadata(serving.directory().join(name)).unwrap();
            assert_eq!(file.permissions().mode() & 0o7777, 0o600, "{name}, umask {umask}");
        }
    }
}

#[test]
fn existing_file_readable_by_others_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let file = left_behind(folder.path());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let store = format!("sqlite:{}", file.display());

    let serving = World::serve(&[&ANY_PORT[..], &["--store", &store]].concat()).ready();

    serving.says("run chmod 600");
    let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode, 0o644, "it is the operator's to change");
}

#[test]
fn file_of_a_newer_release_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let file = left_behind(folder.path());
    let db = Connection::open(&file).unwrap();
    let known: i32 = db.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    db.pragma_update(None, "user_version", 1000).unwrap();
    drop(db);

    let sentence = refused(&file);

    let known = format!("knows {known}");
    for part in ["version 1000 of its tables", &known, "Start the release that wrote it"] {
        assert!(sentence.contains(part), "{sentence}");
    }
    assert!(sentence.contains(&*file.to_string_lossy()), "{sentence}");
}
