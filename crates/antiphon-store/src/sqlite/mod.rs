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
mod ledgers;
mod listing;
mod lock;
mod log;
mod names;
mod notices;
mod openings;
mod pages;
mod readers;
mod requests;
mod responses;
mod row;
mod savepoint;
mod schema;
mod snapshot;
mod store;
mod sweep;
mod threads;
mod turns;
mod writer;

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tokio::task::spawn_blocking;

use crate::error::StoreError;
use crate::keys;
pub(crate) use inspect::inspect;
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
    path: Option<PathBuf>,
    /// Held as long as the store is; `None` in memory.
    #[expect(dead_code, reason = "it is held, not read")]
    lock: Option<File>,
    /// Openings up to this ordinal were left by a former process.
    left_behind: i64,
}

impl SqliteStore {
    /// Opens the file at `path`, which is created where there is none, its folder is not. A file
    /// of an earlier version is brought up to date; one of a newer version is refused, and so is one
    /// that another process has open.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // An absolute path is never mistaken for one of SQLite's special names.
        let path = std::path::absolute(path)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let lock = Some(lock::take(&path)?);
        let store = Self::start(connection::writing(&path)?)?;
        let readers = Some(Readers::open(&path)?);
        Ok(Self { readers, lock, path: Some(path), ..store })
    }

    /// A store that keeps nothing: what it holds is gone when it is.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::start(connection::in_memory()?)
    }

    fn start(mut db: Connection) -> Result<Self, StoreError> {
        schema::migrate(&mut db)?;
        jobs::leave_all(&db)?;
        Ok(Self {
            left_behind: openings::last(&db)?,
            writer: Writer::start(db)?,
            readers: None,
            path: None,
            lock: None,
        })
    }

    async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        match &self.readers {
            Some(readers) => readers.call(work).await,
            None => self.writer.call(Effect::Unsynced, work).await,
        }
    }

    async fn write<T, F>(&self, effect: Effect, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.writer.call(effect, work).await
    }

    async fn shut_rewritten(&self) -> Result<(), StoreError> {
        self.shut().await;
        let Some(path) = self.path.clone() else { return Ok(()) };
        let rewriting = spawn_blocking(move || connection::rewrite(&path)).await;
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
        Self::Unavailable(error.to_string())
    }
}
