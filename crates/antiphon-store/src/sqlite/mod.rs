//! The store that needs nothing: one SQLite file.

mod background;
mod connection;
mod conversations;
mod erasure;
mod events;
mod expiry;
mod holdings;
mod inspect;
mod items;
mod jobs;
mod kept;
mod late_binding;
mod ledgers;
mod listing;
mod lock;
mod log;
mod names;
mod notices;
mod openings;
mod pages;
mod permissions;
mod readers;
mod requests;
mod reserve;
mod responses;
mod row;
mod savepoint;
mod schema;
mod snapshot;
mod store;
mod sweep;
mod threads;
mod turns;
mod usage;
mod vacuum;
mod watches;
mod writer;

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, ffi};
use tokio::task::spawn_blocking;

use crate::error::StoreError;
use crate::keys;
pub(crate) use inspect::inspect;
use lock::FileLock;
use readers::Readers;
pub(crate) use snapshot::SqliteSnapshot;
use writer::{Effect, Writer};

/// A [`Store`](crate::Store) in one SQLite file, for one process at a time.
///
/// One thread writes. What is asked of it while it waits for the disk is committed together next,
/// so that many turns share one sync. Reads run beside it on connections of their own, from a
/// snapshot that holds everything answered before.
#[derive(Debug)]
pub struct SqliteStore {
    writer: Writer,
    /// `None` in memory, where only the writer sees anything.
    readers: Option<Readers>,
    /// `None` in memory.
    lock: Option<Arc<FileLock>>,
    /// Openings up to this ordinal were left by a former process.
    left_behind: i64,
}

impl SqliteStore {
    /// Opens the file at `path`, which is created where there is none, its folder is not. A new file
    /// can be read by its owner only; a wider mode of an existing file is kept and logged. A file of
    /// an earlier version is brought up to date; one of a newer version is refused, and so is one
    /// that another process has open under any name.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // An absolute path is never mistaken for one of SQLite's special names.
        let path = std::path::absolute(path)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let lock = Arc::new(FileLock::acquire(&path)?);
        permissions::warn_if_shared(lock.path());
        let db = connection::writing(lock.path())?;
        let mut store = Self::start(db, Some(Arc::clone(&lock)))?;
        store.readers = Some(Readers::open(lock)?);
        Ok(store)
    }

    /// A store that keeps nothing: what it holds is gone when it is.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::start(connection::in_memory()?, None)
    }

    fn start(mut db: Connection, lock: Option<Arc<FileLock>>) -> Result<Self, StoreError> {
        vacuum::convert(&db)?;
        schema::migrate(&mut db)?;
        jobs::leave_all(&db)?;
        Ok(Self {
            left_behind: openings::last(&db)?,
            writer: Writer::start(db, lock.clone())?,
            readers: None,
            lock,
        })
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

/// A full disk has a code of its own. A quota and a limit on the size of files have the code of a
/// failed write.
fn is_no_space(error: ffi::Error) -> bool {
    error.code == ErrorCode::DiskFull
        || matches!(error.extended_code, ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE)
}
