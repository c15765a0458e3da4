//! A cache of the segments of recent transcripts, so that the turns of a long conversation do not
//! each read all of it from the file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antiphon::HeldItem;
use rusqlite::Connection;
use rusqlite::hooks::Action;

use crate::error::StoreError;

/// The bytes of each half of the cache.
const HALF: usize = 16 << 20;

/// A longer segment is not cached, in bytes.
const LONGEST: usize = 1 << 20;

/// The items of segments by the segment's number.
///
/// A transaction that changes or deletes a segment empties the cache with its first such change.
/// Until it has ended, and for readers that started before its end, nothing is found and nothing is
/// added. So a reader never finds a segment that its snapshot does not contain, and no erased item
/// stays here.
#[derive(Debug, Default)]
pub(super) struct SegmentCache(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The number of transactions that changed segments.
    changes: u64,
    /// Whether such a transaction is open.
    is_changing: bool,
    /// The segments that were used since this half was empty. If it is full, it becomes the older
    /// half, and the segments that were not used since then are dropped.
    recent: Half,
    older: Half,
}

#[derive(Debug, Default)]
struct Half {
    segments: HashMap<i64, Arc<[HeldItem]>>,
    bytes: usize,
}

/// The cache, as a reader may use it whose snapshot is opened afterwards.
#[derive(Clone, Debug)]
pub(super) struct CacheReader {
    cache: Arc<SegmentCache>,
    changes: u64,
}

impl SegmentCache {
    /// Empties the cache before the writer's transaction changes a segment.
    pub(super) fn watch(self: &Arc<Self>, writer: &Connection) -> Result<(), StoreError> {
        let cache = Arc::clone(self);
        writer.update_hook(Some(move |action, _: &str, table: &str, _| {
            if table == "segments" && action != Action::SQLITE_INSERT {
                cache.begin_change();
            }
        }))?;
        Ok(())
    }

    /// Empties the cache, and keeps it empty until the transaction has ended.
    pub(super) fn begin_change(&self) {
        let mut state = self.lock();
        if !state.is_changing {
            *state = State { changes: state.changes, is_changing: true, ..State::default() };
        }
    }

    /// Uses the cache again after the writer's transaction has ended, with a commit or without.
    pub(super) fn end_transaction(&self) {
        let mut state = self.lock();
        if state.is_changing {
            state.is_changing = false;
            state.changes += 1;
        }
    }

    /// Begins to read. Open the snapshot afterwards.
    pub(super) fn reader(self: &Arc<Self>) -> CacheReader {
        CacheReader { cache: Arc::clone(self), changes: self.lock().changes }
    }

    /// Each change is one step, so a panic elsewhere cannot leave it inconsistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheReader {
    /// The cached ones of these segments.
    pub(super) fn find(&self, numbers: &[i64]) -> Vec<Option<Arc<[HeldItem]>>> {
        let mut state = self.cache.lock();
        let is_valid = state.is_valid(self);
        numbers.iter().map(|number| state.find(*number).filter(|_| is_valid)).collect()
    }

    /// Adds a segment of the reader's snapshot.
    pub(super) fn add(&self, number: i64, items: &Arc<[HeldItem]>) {
        let mut state = self.cache.lock();
        if state.is_valid(self) {
            state.add(number, Arc::clone(items));
        }
    }
}

impl State {
    fn is_valid(&self, reader: &CacheReader) -> bool {
        !self.is_changing && self.changes == reader.changes
    }

    fn find(&mut self, number: i64) -> Option<Arc<[HeldItem]>> {
        if let Some(found) = self.recent.segments.get(&number) {
            return Some(Arc::clone(found));
        }
        let found = Arc::clone(self.older.segments.get(&number)?);
        self.add(number, Arc::clone(&found));
        Some(found)
    }

    fn add(&mut self, number: i64, items: Arc<[HeldItem]>) {
        let bytes = size(&items);
        if bytes > LONGEST {
            return;
        }
        if self.recent.bytes + bytes > HALF {
            self.older = std::mem::take(&mut self.recent);
        }
        if self.recent.segments.insert(number, items).is_none() {
            self.recent.bytes += bytes;
        }
    }
}

/// The approximate size in memory.
fn size(items: &[HeldItem]) -> usize {
    let of_item = |item: &HeldItem| size_of::<HeldItem>() + item.length();
    items.iter().map(of_item).sum()
}

#[cfg(test)]
mod tests {
    use antiphon::item::FingerprintKey;
    use antiphon::{Item, ItemId};

    use super::*;

    fn segment(length: usize) -> Arc<[HeldItem]> {
        let json =
            format!(r#"{{"type":"message","role":"user","content":"{}"}}"#, "x".repeat(length));
        let item = Item::parse(json.into()).unwrap();
        [HeldItem::new(ItemId::from("msg_1"), &item, FingerprintKey::new([7; 16]), None)].into()
    }

    fn has(reader: &CacheReader, number: i64) -> bool {
        reader.find(&[number])[0].is_some()
    }

    #[test]
    fn change_empties_the_cache_and_excludes_earlier_readers() {
        let cache = Arc::new(SegmentCache::default());
        let early = cache.reader();
        early.add(1, &segment(1));
        assert!(has(&early, 1) && has(&cache.reader(), 1));

        cache.begin_change();
        let during = cache.reader();
        during.add(1, &segment(1));
        assert!(!has(&during, 1));
        cache.end_transaction();

        for reader in [&early, &during] {
            reader.add(1, &segment(1));
            assert!(!has(&cache.reader(), 1));
        }
        let later = cache.reader();
        later.add(1, &segment(1));
        assert!(has(&later, 1) && !has(&early, 1));
        cache.end_transaction();
        assert!(has(&later, 1), "the transaction changed no segment");
    }

    #[test]
    fn size_is_bounded_and_used_segments_stay() {
        let reader = Arc::new(SegmentCache::default()).reader();
        let megabytes = i64::try_from(8 * HALF / LONGEST).unwrap();
        for number in 0..megabytes {
            reader.add(number, &segment(LONGEST / 2));
            assert!(has(&reader, 0));
        }
        let numbers: Vec<i64> = (0..megabytes).collect();
        let state = reader.cache.lock();
        let held = state.recent.bytes + state.older.bytes;
        drop(state);
        assert!(held <= 2 * HALF, "{held}");
        assert!(reader.find(&numbers).iter().flatten().count() > 16);
        reader.add(-1, &segment(2 * LONGEST));
        assert!(!has(&reader, -1));
    }
}
