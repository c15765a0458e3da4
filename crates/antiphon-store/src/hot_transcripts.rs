//! The transcripts of recent turns, in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use antiphon::{HeldItem, Transcript};

use crate::ids::{ResponseId, Shard, Tenant, ThreadId};
use crate::records::{Cursor, ResponseRecord, Seq};

/// The bytes of each half of the memory.
const HALF: usize = 32 << 20;

/// A longer transcript is not kept, in bytes.
const LONGEST: usize = 4 << 20;

/// The approximate bytes of an item's entries in the indexes of its transcript.
const INDEXES: usize = 256;

/// The approximate bytes of the end of a response.
const END: usize = 256;

/// The transcripts that recent turns ended with, and the ends of their responses. A turn that
/// continues one takes it, and gives it back with its own items. So its cost does not grow with the
/// transcript.
///
/// A change of stored items, other than new ones, empties the memory with its first write. Until
/// the transaction has ended, nothing is found. Whatever was read before its end is never added. So
/// no erased item stays here.
#[derive(Debug, Default)]
pub struct HotTranscripts(Mutex<State>);

/// The state of the store in which a transcript was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreVersion(u64);

/// The end of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseEnd {
    /// A turn that names the response as `previous_response_id` begins here.
    pub cursor: Cursor,
    /// Whether the response belongs to a conversation.
    pub is_in_conversation: bool,
}

impl ResponseEnd {
    /// The end of a stored response.
    pub fn from_record(record: &ResponseRecord) -> Self {
        let is_in_conversation = record.response.conversation.is_some();
        Self { cursor: record.cursor, is_in_conversation }
    }
}

#[derive(Debug, Default)]
struct State {
    /// The number of transactions that changed stored items.
    changes: u64,
    /// Whether such a transaction is open.
    is_changing: bool,
    /// The entries that were used since this half was empty. If it is full, it becomes the older
    /// half, and the entries that were not used since then are dropped.
    recent: Half,
    older: Half,
}

#[derive(Debug, Default)]
struct Half {
    transcripts: HashMap<ThreadKey, (Seq, Transcript)>,
    ends: HashMap<(Tenant, ResponseId), ResponseEnd>,
    bytes: usize,
}

type ThreadKey = (Tenant, Shard, ThreadId);

impl HotTranscripts {
    /// The present state of the store. Ask for it before you read the transcript to be kept.
    pub fn version(&self) -> StoreVersion {
        StoreVersion(self.lock().changes)
    }

    /// The end of a response; `None` if it is unknown here.
    pub fn end_of(&self, tenant: &Tenant, response: &ResponseId) -> Option<ResponseEnd> {
        self.lock().end_of(&(tenant.clone(), response.clone()))
    }

    /// Takes the transcript that ends at `cursor`.
    pub fn take(&self, tenant: &Tenant, cursor: Cursor) -> Option<Transcript> {
        self.lock().take(&thread_key(tenant, cursor), cursor.end)
    }

    /// Keeps the transcript that ends with a response, which was committed. `version` is that of
    /// the store before the transcript was read.
    pub fn keep(
        &self,
        tenant: &Tenant,
        response: &ResponseId,
        transcript: Transcript,
        version: StoreVersion,
    ) {
        let bytes = size(&transcript);
        let mut state = self.lock();
        if !state.is_at(version) || bytes > LONGEST {
            return;
        }
        if let Some(end) = state.end_of(&(tenant.clone(), response.clone())) {
            let key = thread_key(tenant, end.cursor);
            state.make_room(bytes);
            state.recent.add(key, end.cursor.end, transcript);
        }
    }

    /// Records the end of a response that was committed after this version.
    pub(crate) fn note_end(
        &self,
        tenant: &Tenant,
        response: ResponseId,
        end: ResponseEnd,
        version: StoreVersion,
    ) {
        let mut state = self.lock();
        if state.is_at(version) {
            state.make_room(END);
            state.recent.add_end((tenant.clone(), response), end);
        }
    }

    /// Empties the memory, and keeps it empty until the transaction has ended.
    pub(crate) fn begin_change(&self) {
        let mut state = self.lock();
        if !state.is_changing {
            let empty = State { changes: state.changes, is_changing: true, ..State::default() };
            let former = std::mem::replace(&mut *state, empty);
            // Freeing the memory takes long, so nobody waits for it.
            drop(state);
            drop(former);
        }
    }

    /// Uses the memory again after a transaction has ended, with a commit or without.
    pub(crate) fn end_transaction(&self) {
        let mut state = self.lock();
        if state.is_changing {
            state.is_changing = false;
            state.changes += 1;
        }
    }

    /// Each change is one step, so a panic elsewhere cannot leave it inconsistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn thread_key(tenant: &Tenant, cursor: Cursor) -> ThreadKey {
    (tenant.clone(), cursor.shard, cursor.thread)
}

/// The approximate size in memory.
fn size(transcript: &Transcript) -> usize {
    transcript.length() + transcript.items().len() * (size_of::<HeldItem>() + INDEXES)
}

impl State {
    fn is_at(&self, version: StoreVersion) -> bool {
        !self.is_changing && self.changes == version.0
    }

    fn end_of(&mut self, key: &(Tenant, ResponseId)) -> Option<ResponseEnd> {
        if let Some(end) = self.recent.ends.get(key) {
            return Some(*end);
        }
        let end = self.older.ends.remove(key)?;
        self.make_room(END);
        self.recent.add_end(key.clone(), end);
        Some(end)
    }

    fn take(&mut self, key: &ThreadKey, end: Seq) -> Option<Transcript> {
        self.recent.take(key, end).or_else(|| self.older.take(key, end))
    }

    fn make_room(&mut self, bytes: usize) {
        if self.recent.bytes + bytes > HALF {
            self.older = std::mem::take(&mut self.recent);
        }
    }
}

impl Half {
    fn add(&mut self, key: ThreadKey, end: Seq, transcript: Transcript) {
        self.bytes += size(&transcript);
        if let Some((_, replaced)) = self.transcripts.insert(key, (end, transcript)) {
            self.bytes -= size(&replaced);
        }
    }

    fn add_end(&mut self, key: (Tenant, ResponseId), end: ResponseEnd) {
        if self.ends.insert(key, end).is_none() {
            self.bytes += END;
        }
    }

    fn take(&mut self, key: &ThreadKey, end: Seq) -> Option<Transcript> {
        self.transcripts.get(key).filter(|(kept, _)| *kept == end)?;
        let (_, transcript) = self.transcripts.remove(key)?;
        self.bytes -= size(&transcript);
        Some(transcript)
    }
}

#[cfg(test)]
mod tests {
    use antiphon::item::{FingerprintKey, IdSource};
    use antiphon::{Item, ItemId};

    use super::*;

    struct Counter(u8);

    impl IdSource for Counter {
        fn fill(&mut self, bytes: &mut [u8]) {
            self.0 += 1;
            bytes.fill(self.0);
        }
    }

    /// A response of a thread of its own.
    struct Chain {
        tenant: Tenant,
        response: ResponseId,
        cursor: Cursor,
    }

    impl Chain {
        fn new(number: u8) -> Self {
            let (shard, thread) = (Shard(1), ThreadId(u64::from(number)));
            let response = ResponseId::issue(shard, &mut Counter(number));
            let cursor = Cursor { shard, thread, end: 1 };
            Self { tenant: Tenant::new("acme"), response, cursor }
        }

        fn commit(&self, hot: &HotTranscripts, version: StoreVersion, length: usize) {
            let end = ResponseEnd { cursor: self.cursor, is_in_conversation: false };
            hot.note_end(&self.tenant, self.response.clone(), end, version);
            hot.keep(&self.tenant, &self.response, transcript(length), version);
        }

        fn is_known(&self, hot: &HotTranscripts) -> bool {
            hot.end_of(&self.tenant, &self.response).is_some()
        }

        fn take(&self, hot: &HotTranscripts) -> Option<Transcript> {
            hot.take(&self.tenant, self.cursor)
        }
    }

    fn transcript(length: usize) -> Transcript {
        let json =
            format!(r#"{{"type":"message","role":"user","content":"{}"}}"#, "x".repeat(length));
        let item = Item::parse(json.into()).unwrap();
        let key = FingerprintKey::new([7; 16]);
        [HeldItem::new(ItemId::from("msg_1"), &item, key, None)].into_iter().collect()
    }

    #[test]
    fn transcript_is_taken_once_at_its_end_by_its_tenant() {
        let (hot, chain) = (HotTranscripts::default(), Chain::new(1));
        chain.commit(&hot, hot.version(), 1);

        let other = Tenant::new("other");
        assert!(hot.end_of(&other, &chain.response).is_none());
        assert!(hot.take(&other, chain.cursor).is_none());
        let later = Cursor { end: 2, ..chain.cursor };
        assert!(hot.take(&chain.tenant, later).is_none());

        assert!(chain.is_known(&hot));
        assert!(chain.take(&hot).is_some());
        assert!(chain.take(&hot).is_none() && chain.is_known(&hot));
    }

    #[test]
    fn change_empties_the_memory_and_excludes_earlier_turns() {
        let (hot, chain) = (HotTranscripts::default(), Chain::new(1));
        let early = hot.version();
        chain.commit(&hot, early, 1);

        hot.begin_change();
        assert!(chain.take(&hot).is_none() && !chain.is_known(&hot));
        let during = hot.version();
        chain.commit(&hot, during, 1);
        assert!(chain.take(&hot).is_none() && !chain.is_known(&hot));
        hot.end_transaction();

        for version in [early, during] {
            chain.commit(&hot, version, 1);
            assert!(chain.take(&hot).is_none() && !chain.is_known(&hot));
        }
        chain.commit(&hot, hot.version(), 1);
        hot.end_transaction();
        assert!(chain.take(&hot).is_some(), "the transaction changed no stored item");
    }

    #[test]
    fn size_is_bounded_and_recent_transcripts_stay() {
        let hot = HotTranscripts::default();
        let version = hot.version();
        for number in 0..64 {
            Chain::new(number).commit(&hot, version, LONGEST / 2);
        }
        let held = {
            let state = hot.lock();
            state.recent.bytes + state.older.bytes
        };
        assert!(held <= 2 * HALF, "{held}");
        assert!(Chain::new(0).take(&hot).is_none());
        assert!((48..64).all(|number| Chain::new(number).take(&hot).is_some()));

        Chain::new(64).commit(&hot, version, LONGEST);
        assert!(Chain::new(64).take(&hot).is_none());
    }
}
