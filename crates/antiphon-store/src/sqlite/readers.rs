//! Connections that read in parallel to the writer, each call from one snapshot.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use rusqlite::Connection;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::connection;
use super::lock::FileLock;
use super::writer::closed;
use crate::error::StoreError;
use crate::observer::StoreLoad;

/// A pool of reading connections. Calls run on threads that may block.
#[derive(Debug)]
pub(super) struct Readers {
    idle: Arc<Idle>,
    /// One permit per idle connection.
    permits: Arc<Semaphore>,
    size: u32,
}

/// The idle connections.
#[derive(Debug)]
struct Idle {
    connections: Mutex<Vec<Connection>>,
    /// Dropped after the connections.
    _lock: Arc<FileLock>,
}

impl Readers {
    /// Opens readers of the locked file.
    pub(super) fn open(lock: Arc<FileLock>) -> Result<Self, StoreError> {
        let open = |_| connection::open_reading(lock.path());
        let connections = (0..pool_size()).map(open).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            permits: Arc::new(Semaphore::new(connections.len())),
            idle: Arc::new(Idle { connections: Mutex::new(connections), _lock: lock }),
            size: pool_size(),
        })
    }

    /// Runs `work` on a snapshot that contains every write answered before.
    pub(super) async fn call<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let permits = Arc::clone(&self.permits);
        let permit = permits.acquire_owned().await.map_err(|_| closed())?;
        let idle = Arc::clone(&self.idle);
        let reading = spawn_blocking(move || {
            let outcome = Borrowed::from(&idle).read(work);
            drop(permit);
            outcome
        });
        reading.await.unwrap_or_else(|error| Err(StoreError::Unavailable(error.to_string())))
    }

    /// The connections in use. The calls that wait for one are not counted.
    pub(super) fn load(&self) -> StoreLoad {
        let max = self.size as usize;
        let connections_in_use = max.saturating_sub(self.permits.available_permits());
        StoreLoad { connections_in_use, max_connections: max, waiting_calls: 0 }
    }

    /// Waits for running calls, and closes the connections.
    pub(super) async fn close(&self) {
        if let Ok(all) = self.permits.acquire_many(self.size).await {
            self.permits.close();
            drop(all);
            self.idle.lock().clear();
        }
    }
}

fn pool_size() -> u32 {
    let cores = available_parallelism().map_or(4, usize::from);
    u32::try_from(cores.clamp(2, 8)).expect("eight at the most")
}

impl Idle {
    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection taken from the pool. It returns there even if the work panics.
struct Borrowed<'a> {
    pool: &'a Idle,
    db: Option<Connection>,
}

impl<'a> Borrowed<'a> {
    fn from(pool: &'a Idle) -> Self {
        let db = pool.lock().pop();
        Self { pool, db }
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let db = self.db.as_ref().ok_or_else(closed)?;
        let snapshot = db.unchecked_transaction()?;
        work(&snapshot)
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.pool.lock().extend(self.db.take());
    }
}
