//! How much a turn writes.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use antiphon::{HeldItem, IdSource};
use antiphon_store::{Cursor, Destination, NewResponse, ResponseId, Shard, ThreadId, TurnRecord};
use futures_util::future::join_all;
use futures_util::poll;
use rusqlite::Connection;

use crate::File;
use crate::conformance::World;
use crate::conformance::world::held;

/// The bytes of a page, and of its header in the log.
const FRAME: u64 = 8192 + 24;
/// The bytes of the log before its first page.
const HEADER: u64 = 32;

/// Ids as a gateway issues them: those of shards, threads and responses are random, those of items
/// begin with the time.
#[derive(Clone, Copy)]
struct Random(u64);

impl IdSource for Random {
    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&mixed.to_be_bytes()[..chunk.len()]);
        }
    }
}

/// A store in a file whose log only grows: a reader of its first state is open.
struct Log {
    world: World,
    path: PathBuf,
    turns: AtomicU64,
    /// The ends of the chains that turns continue. Without any, each turn begins one.
    chains: Mutex<VecDeque<Cursor>>,
    blocker: Connection,
    _reader: Connection,
}

impl Log {
    async fn new() -> Self {
        let file = File::new();
        let path = file.path();
        let world = World::at(file).await;
        world.conversation(&["a"]).await;
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM conversations").unwrap();
        let blocker = Connection::open(&path).unwrap();
        let log = path.with_extension("db-wal");
        let (turns, chains) = (AtomicU64::new(0), Mutex::default());
        Self { world, path: log, turns, chains, blocker, _reader: reader }
    }

    /// Begins chains. All later turns continue them, one chain after the other.
    async fn with_chains(self, count: usize) -> Self {
        let begun: Vec<_> = (0..count).map(|_| self.turn()).collect();
        for turn in begun {
            let end = end_of(&turn);
            self.world.commit(turn).await.unwrap();
            self.chains.lock().unwrap().push_back(end);
        }
        self
    }

    fn pages(&self) -> u64 {
        fs::metadata(&self.path).unwrap().len().saturating_sub(HEADER) / FRAME
    }

    /// The next turn of a chain, of about 3 kB.
    fn turn(&self) -> TurnRecord {
        let number = self.turns.fetch_add(1, Ordering::Relaxed);
        let mut ids = Random(number << 32);
        let continued = self.chains.lock().unwrap().pop_front();
        let shard = continued.map_or_else(|| Shard::issue(&mut ids), |end| end.shard);
        let thread = ThreadId::issue(&mut ids);
        let item = |role: &str, letters: usize, ids: &mut Random| {
            let (seconds, fraction) = (1_700_000_000 + number / 100, number % 100 * 655);
            let id = format!("msg_{seconds:08x}{fraction:04x}{}", &ids.issue("")[13..]);
            message(&id, role, &"word ".repeat(letters / 5))
        };
        let response = NewResponse {
            id: ResponseId::issue(shard, &mut ids),
            conversation: None,
            created_at: 1_700_000_000 + i64::try_from(number / 100).unwrap(),
            envelope: format!(r#"{{"object":"response","instructions":"{}"}}"#, "x".repeat(700))
                .into(),
            report: "[]".into(),
            copy: None,
        };
        let mut request = [0; 16];
        ids.fill(&mut request);
        TurnRecord {
            destination: match continued {
                Some(cursor) => Destination::After { cursor, fork: thread, end_of: None },
                None => Destination::New { shard, thread },
            },
            input: vec![item("developer", 500, &mut ids), item("user", 500, &mut ids)],
            output: vec![item("assistant", 1000, &mut ids)],
            response: Some(response),
            request: Some(antiphon_store::RequestDigest(request)),
            place: None,
            notices: Vec::new(),
            ledger: None,
        }
    }

    /// Commits `count` turns that arrive while the writer waits, so that they share transactions.
    async fn together(&self, streamed: bool, count: u64) {
        let turns: Vec<_> = (0..count).map(|_| self.turn()).collect();
        if streamed {
            let pending =
                turns.iter().map(|turn| TurnRecord { output: Vec::new(), ..turn.clone() });
            self.queued(pending.map(|turn| async move { self.world.record_pending(&turn).await }))
                .await;
        }
        self.queued(turns.into_iter().map(|turn| self.commit(turn))).await;
    }

    /// Commits a turn, and keeps the end of a chain that it continues.
    async fn commit(&self, turn: TurnRecord) {
        let (is_continued, end) =
            (matches!(turn.destination, Destination::After { .. }), end_of(&turn));
        self.world.commit(turn).await.unwrap();
        if is_continued {
            self.chains.lock().unwrap().push_back(end);
        }
    }

    /// Queues all `calls` while another connection has the write lock, and then awaits them.
    async fn queued(&self, calls: impl Iterator<Item = impl Future<Output = ()>>) {
        let mut calls = join_all(calls);
        self.blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(poll!(&mut calls).is_pending(), "the writer is blocked");
        self.blocker.execute_batch("ROLLBACK").unwrap();
        calls.await;
    }
}

/// The end of a chain after this turn.
fn end_of(turn: &TurnRecord) -> Cursor {
    let start = match &turn.destination {
        Destination::New { shard, thread } => Cursor { shard: *shard, thread: *thread, end: 0 },
        Destination::After { cursor, .. } => *cursor,
        Destination::Conversation(_) => unreachable!("no turn names a conversation"),
    };
    let length = (turn.input.len() + turn.output.len()) as u64;
    Cursor { end: start.end + length, ..start }
}

fn message(id: &str, role: &str, text: &str) -> HeldItem {
    held(id, &format!(r#"{{"type":"message","id":"{id}","role":"{role}","content":"{text}"}}"#))
}

/// The pages that a turn writes on average, times ten.
async fn pages_per_turn(log: Log, streamed: bool, at_once: u64) -> u64 {
    const TURNS: u64 = 480;
    let run = async || {
        for _ in 0..TURNS / at_once {
            log.together(streamed, at_once).await;
        }
    };
    run().await;
    let before = log.pages();
    run().await;
    (log.pages() - before) * 10 / TURNS
}

#[tokio::test]
async fn turn_writes_few_pages() {
    let mut counted = Vec::new();
    // The two chains of the second case get long: their entries fill several pages.
    for (at_once, chains, limit) in [(1, 0, 80), (1, 2, 80), (16, 0, 40), (16, 16, 40)] {
        for streamed in [false, true] {
            let log = Log::new().await.with_chains(chains).await;
            let pages = pages_per_turn(log, streamed, at_once).await;
            println!("{streamed}, {chains} chains, {at_once} at once: {pages} tenths of a page");
            counted.push((pages, limit));
        }
    }
    assert!(counted.iter().all(|(pages, limit)| pages <= limit), "{counted:?}");
}
