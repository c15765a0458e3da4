//! Files shrink after what they held was deleted.

use std::fs;
use std::path::Path;

use antiphon_store::ResponseId;
use rusqlite::Connection;

use crate::File;
use crate::conformance::World;
use crate::conformance::world::saying;

/// A file that release 0.1.0 made. A conversation holds the items a, b, c and d; a longer one was
/// deleted.
const EARLIER: &[u8] = include_bytes!("../fixtures/release-0.1.0.sqlite");
const RESPONSE: &str = "resp_800000000000000080000000000000000000000000000003";

fn size(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

/// Fills a conversation with 4 MB, then deletes it.
async fn fill_and_delete(world: &World, path: &Path) {
    let id = world.conversation(&[]).await;
    for name in 0..200 {
        let item = saying(&name.to_string(), &"word ".repeat(4_000));
        world.store.append_items(&world.tenant, &id, vec![item]).await.unwrap();
    }
    assert!(size(path) + size(&path.with_extension("db-wal")) > 4_000_000);
    assert!(world.delete_conversation(&id).await);
}

/// The file shrinks after the answer to the deletion, while no other job waits.
async fn wait_until_small(path: &Path) {
    let mut tries = 0..1_000_000;
    while size(path) > 1_500_000 {
        assert!(tries.next().is_some(), "it has {} bytes", size(path));
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn file_shrinks_after_a_deletion() {
    let file = File::new();
    let path = file.path();
    let world = World::at(file).await;
    let subject = world.conversation(&["a"]).await;

    fill_and_delete(&world, &path).await;

    wait_until_small(&path).await;
    assert_eq!(world.listed(&subject).await, ["a"]);
}

#[tokio::test]
async fn file_of_earlier_release_is_converted_and_shrinks() {
    let file = File::new();
    let path = file.path();
    fs::write(&path, EARLIER).unwrap();
    assert_eq!(auto_vacuum(&path), 0, "the earlier release made it so");

    let world = World::at(file).await;
    let response = ResponseId::parse(RESPONSE).unwrap();
    assert_eq!(world.transcript(&response).await, ["a", "b", "c", "d"]);
    // Another tenant's: the ids of this world's next conversations are in the file already.
    fill_and_delete(&world.seen_by("bob"), &path).await;

    wait_until_small(&path).await;
    assert_eq!(world.transcript(&response).await, ["a", "b", "c", "d"]);
    world.store.close().await;
    assert_eq!(auto_vacuum(&path), 2);
}

fn auto_vacuum(path: &Path) -> i64 {
    let db = Connection::open(path).unwrap();
    db.pragma_query_value(None, "auto_vacuum", |row| row.get(0)).unwrap()
}
