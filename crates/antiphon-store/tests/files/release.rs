//! A file of the last release that stored each item in a row of its own.
//!
//! That release wrote `before.sql`, the dump of a file after a long random history, and
//! `before.txt`, which tells its contents at each of the points of [`history`].

use std::fmt::Write as _;

use antiphon_store::Tenant;
use rusqlite::Connection;

use crate::File;
use crate::conformance::World;
use crate::conformance::contents::contents;

pub(super) const DUMP: &str = include_str!("../fixtures/segments/before.sql");
const HISTORY: &str = include_str!("../fixtures/segments/before.txt");
/// After everything in the file.
const LATER: i64 = 1 << 40;

/// The contents of the store in `file`, before and after some more writes.
async fn history(file: File) -> String {
    let world = World::at(file).await;
    let mut history = digest(&contents(&world).await);
    let store = world.store.clone();
    let mut note = |text: String| writeln!(history, "{text}").unwrap();
    note(format!("settled: {:?}", store.settle_pending_turns().await));
    note(digest(&contents(&world).await));
    while let Some(job) = store.background_jobs().claim_next().await.unwrap() {
        note(format!("job: {job:?}"));
    }
    note(format!("notices: {:?}", store.claim_notices(LATER, 2 * LATER, 9).await.unwrap()));
    note(format!("watches: {:?}", store.watches().claim(LATER, 2 * LATER, 9).await.unwrap()));
    note(format!("copies: {:?}", store.ledgers().expire_copies(20, 1 << 20).await));
    note(format!("expired: {:?}", store.expire_responses(1_767_225_620, 30).await));
    note(digest(&contents(&world).await));
    note(format!("expired: {:?}", store.expire_responses(LATER, 1000).await));
    note(digest(&contents(&world).await));
    let alice = Tenant::new("alice");
    while !store.erase(&alice, LATER, 7).await.unwrap().is_nothing() {}
    note(digest(&contents(&world).await));
    history
}

/// The number of lines of a text, and a hash of it (FNV-1a).
fn digest(text: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    format!("contents: {} lines, {hash:016x}\n", text.lines().count())
}

#[tokio::test]
async fn migrated_file_has_the_same_contents() {
    let file = File::new();
    Connection::open(file.path()).unwrap().execute_batch(DUMP).unwrap();

    assert_eq!(history(file).await, HISTORY);
}
