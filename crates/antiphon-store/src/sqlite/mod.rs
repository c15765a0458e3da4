//! The store for a single process: one SQLite file.

mod background;
mod connection;
mod conversations;
mod data_counts;
mod description;
mod erasure;
mod events;
mod inspect;
mod item_ids;
mod items;
mod jobs;
mod late_binding;
mod ledger_names;
mod ledgers;
mod listing;
mod listings;
mod lock;
mod log;
mod move_items;
mod named_values;
mod notices;
mod pages;
mod pending_turns;
mod permissions;
mod platform;
mod readers;
mod recent_requests;
mod requests;
mod reserve;
mod responses;
mod restore;
mod row;
mod schema;
mod segments;
mod snapshot;
mod store;
mod summaries;
mod sweep;
mod threads;
mod turns;
mod vacuum;
mod watches;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use rusqlite::{Connection, ErrorCode, ffi};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::error::StoreError;
use crate::hot_transcripts::HotTranscripts;
use crate::keys;
use crate::observer::Observed;
use crate::records::RETRY_WINDOW;
pub(crate) use description::{describe_file, describe_memory};
pub(crate) use inspect::inspect;
pub(crate) use listings::SqliteListings;
use lock::FileLock;
use readers::Readers;
use recent_requests::RecentRequests;
pub(crate) use snapshot::SqliteSnapshot;
use writer::{Effect, Writer};

/// A [`Store`](crate::Store) in one SQLite file, for one process at a time.
///
/// A single thread writes. Calls that arrive while it waits for the disk are committed together
/// next, so that many turns share one sync. Reads run in parallel on their own connections, each
/// from a snapshot that contains every write answered before.
#[derive(Debug)]
pub struct SqliteStore {
    writer: Writer,
    /// `None` for a database in memory, which only the writer's connection sees.
    readers: Option<Readers>,
    hot: Arc<HotTranscripts>,
    /// Loaded when the first request asks for its shard.
    requests: OnceCell<RecentRequests>,
    observed: Observed,
    /// `None` for a database in memory.
    lock: Option<Arc<FileLock>>,
    /// A former process left the pending turns up to this ordinal.
    last_left_ordinal: i64,
    /// The ordinal of the pending turn that was recorded last.
    ordinals: AtomicI64,
}

impl SqliteStore {
    /// Opens the file at `path`. Creates the file, but not its directory, if there is none. Only
    /// its owner can read a new file; a wider mode of an existing file is left and logged. A file
    /// of an earlier version is migrated. Fails if a newer version wrote the file, or if another
    /// process has it open under any name.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // An absolute path is never one of SQLite's special names.
        let path = std::path::absolute(path)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let lock = Arc::new(FileLock::acquire(&path)?);
        permissions::warn_if_shared(lock.path());
        let db = connection::open_writing(lock.path())?;
        let mut store = Self::start(db, Some(Arc::clone(&lock)))?;
        store.readers = Some(Readers::open(lock)?);
        Ok(store)
    }

    /// Opens a store that exists only in memory, and only as long as this value.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::start(connection::open_in_memory()?, None)
    }

    fn start(mut db: Connection, lock: Option<Arc<FileLock>>) -> Result<Self, StoreError> {
        vacuum::convert(&db)?;
        schema::migrate(&mut db)?;
        jobs::leave_all(&db)?;
        let last_left_ordinal = pending_turns::last(&db)?;
        let hot = Arc::new(HotTranscripts::default());
        let observed = Observed::default();
        Ok(Self {
            last_left_ordinal,
            ordinals: AtomicI64::new(last_left_ordinal),
            writer: Writer::start(db, lock.clone(), Arc::clone(&hot), observed.clone())?,
            readers: None,
            hot,
            requests: OnceCell::new(),
            observed,
            lock,
        })
    }

    /// The recent requests of the process that had the file before.
    async fn load_requests(&self, now: i64) -> Result<RecentRequests, StoreError> {
        let placed = self.read(move |db| requests::placed_since(db, now - RETRY_WINDOW)).await?;
        Ok(RecentRequests::restored(placed, now))
    }

    async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        match &self.readers {
            Some(readers) => readers.call(work).await,
            None => self.writer.call(Effect::Unsynced, work).await,
        }
    }

    async fn write<T, F>(&self, effect: Effect, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.writer.call(effect, work).await
    }

    async fn shut_rewritten(&self) -> Result<(), StoreError> {
        self.shut().await;
        let Some(lock) = self.lock.clone() else { return Ok(()) };
        let rewriting = spawn_blocking(move || connection::rewrite(lock.path())).await;
        rewriting.map_err(|error| StoreError::Unavailable(error.to_string()))?
    }

    async fn shut(&self) {
        if let Some(readers) = &self.readers {
            readers.close().await;
        }
        self.writer.close().await;
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error().is_some_and(|error| is_no_space(*error)) {
            true => Self::NoSpace(error.to_string()),
            false => Self::Unavailable(error.to_string()),
        }
    }
}

/// A full disk has an error code of its own. An exceeded quota or file size limit shows as a failed
/// write.
fn is_no_space(error: ffi::Error) -> bool {
    error.code == ErrorCode::DiskFull
        || matches!(error.extended_code, ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE)
}
