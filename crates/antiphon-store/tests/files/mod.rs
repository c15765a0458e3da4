//! What is in the files, and which files are taken.

mod description;
mod erasure;
mod frames;
mod locks;
mod migration;
#[cfg(unix)]
mod modes;
mod release;
mod shrinking;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon_store::{Destination, SqliteStore, Store, StoreError};
use async_trait::async_trait;
use tempfile::TempDir;

use crate::File;
use crate::conformance::world::{items, saying};
use crate::conformance::{StoreLocation, World};

/// A file that opens as a killed process would have left it: from copies of the written bytes.
struct Killed {
    alive: File,
    copies: TempDir,
}

#[async_trait]
impl StoreLocation for Killed {
    async fn open(&self) -> Arc<dyn Store> {
        let from = self.alive.0.path();
        if files_in(from).is_empty() {
            return self.alive.open().await;
        }
        for file in files_in(from) {
            let name = file.file_name().unwrap();
            fs::copy(&file, self.copies.path().join(name)).unwrap();
        }
        let path = self.copies.path().join("antiphon.db");
        Arc::new(SqliteStore::open(&path).unwrap())
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect()
}

#[tokio::test]
async fn acknowledged_writes_survive_a_kill() {
    let killed = Killed { alive: File::new(), copies: tempfile::tempdir().unwrap() };
    let world = World::at(killed).await;
    let conversation = world.conversation(&["a"]).await;
    let response = world.within(&conversation, &["b"], &["c"]).await;
    let (opened, turn) = world.turn(Destination::Conversation(conversation.clone()), &["d"], &[]);
    world.record_pending(&turn).await;

    // The living store is not let go before the copies are made.
    let _living = Arc::clone(&world.store);
    let world = world.reopened().await;

    assert_eq!(world.transcript(&response).await, ["a", "b", "c"]);
    assert_eq!(world.store.settle_pending_turns().await, Ok(1));
    assert_eq!(world.transcript(&opened).await, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn deleted_bytes_are_in_no_file() {
    let file = File::new();
    let folder = file.path().parent().unwrap().to_owned();
    let world = World::at(file).await;
    let conversation = world.conversation(&["a"]).await;
    let (response, mut turn) =
        world.turn(Destination::Conversation(conversation.clone()), &[], &[]);
    turn.input = vec![saying("short", "whisper"), saying("long", &"shouting ".repeat(1000))];
    world.record_pending(&turn).await;
    turn.output = items(&["b"]);
    world.commit(turn).await.unwrap();
    let (_, mut turn) = world.turn(world.destination_after(world.end(&response).await), &[], &[]);
    turn.input = vec![saying("forked", "murmur")];
    let forked = turn.response.clone().unwrap().id;
    world.commit(turn).await.unwrap();
    for text in ["whisper", "shouting", "murmur"] {
        assert!(hold(&folder, text), "{text}");
    }

    world.delete_item(&conversation, "short").await;
    world.delete_item(&conversation, "long").await;
    world.delete_response(&forked).await;

    // The log is emptied after the last answer, once no other job waits.
    for text in ["whisper", "shouting", "murmur"] {
        let mut tries = 0..10_000;
        while hold(&folder, text) {
            assert!(tries.next().is_some(), "{text} is still there");
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(world.transcript(&response).await, ["a", "†short", "†long", "b"]);
}

fn hold(folder: &Path, text: &str) -> bool {
    // A reserve holds nothing, and would take long to read.
    let is_reserve = |file: &PathBuf| file.to_string_lossy().ends_with("-reserve");
    files_in(folder).iter().filter(|file| !is_reserve(file)).any(|file| {
        let bytes = fs::read(file).unwrap();
        bytes.windows(text.len()).any(|at| at == text.as_bytes())
    })
}

#[tokio::test]
async fn closed_store_leaves_one_file_and_an_empty_lock() {
    let file = File::new();
    let path = file.path();
    let world = World::at(file).await;
    world.conversation(&["a"]).await;

    world.store.close().await;

    let lock = path.with_extension("db.lock");
    let mut left = files_in(path.parent().unwrap());
    left.sort();
    assert_eq!(left, [path, lock.clone()]);
    assert_eq!(fs::metadata(lock).unwrap().len(), 0);
}

#[tokio::test]
async fn open_file_is_rejected_until_released() {
    let file = File::new();
    let path = file.path();
    let world = World::at(file).await;

    let refusal = SqliteStore::open(&path).unwrap_err();

    assert!(refusal.to_string().contains("another process has it open"), "{refusal}");
    let response = world.conversation(&["a"]).await;
    drop(response);
    world.store.close().await;
    drop(world.store);
    assert!(SqliteStore::open(&path).is_ok());
}

#[test]
fn non_database_file_is_rejected_unchanged() {
    let file = File::new();
    let text = "Dear diary, ".repeat(1000);
    fs::write(file.path(), &text).unwrap();

    let refusal = SqliteStore::open(&file.path()).unwrap_err();

    assert!(matches!(refusal, StoreError::Unavailable(_)));
    assert_eq!(fs::read_to_string(file.path()).unwrap(), text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_bytes_of_concurrent_turns_are_in_no_file() {
    let file = File::new();
    let folder = file.path().parent().unwrap().to_owned();
    let world = World::at(file).await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..64 {
        let world = world.clone();
        tasks.spawn(async move {
            let (response, mut turn) = world.turn(world.anew(), &[], &[]);
            let text = |said: &str| format!("{said}{number} ").repeat(150);
            turn.input = vec![saying(&format!("in{number}"), &text("whisper"))];
            world.record_pending(&turn).await;
            tokio::task::yield_now().await;
            turn.output = vec![saying(&format!("out{number}"), &text("murmur"))];
            world.commit(turn).await.unwrap();
            response
        });
    }
    for response in tasks.join_all().await {
        assert!(world.delete_response(&response).await);
    }
    for text in ["whisper", "murmur"] {
        let mut tries = 0..3_000;
        while hold(&folder, text) {
            assert!(tries.next().is_some(), "{text} is still there");
            tokio::task::yield_now().await;
        }
    }
}
