//! The jobs of the writing thread.

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::error::StoreError;

/// The maximum number of jobs in one commit.
const BATCH: usize = 256;

/// The durability that a job needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sqlite) enum Effect {
    /// It changes nothing, or its changes need not survive a power cut.
    Unsynced,
    /// Once answered, its changes must survive a power cut.
    Synced,
    /// As `Synced`, and it deletes data that must not remain anywhere in the files.
    Erasing,
    /// As `Synced`, and it reads a stream that cannot be read twice.
    Restoring,
}

/// A queued call, independent of the type of its result.
pub(super) trait Job: Send {
    fn effect(&self) -> Effect;

    /// Runs the work. Returns `false` if it failed: its changes are then still there.
    fn run(&mut self, db: &Connection) -> bool;

    /// Runs the work, and undoes its changes if it fails. An error means that the transaction is
    /// lost.
    fn run_apart(&mut self, db: &Connection) -> Result<(), StoreError>;

    /// Whether the work failed because the disk is full.
    fn lacked_space(&self) -> bool;

    /// Sends the result of the work, or the error of the commit.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// A call, its result and its caller.
pub(super) struct Call<T, F> {
    effect: Effect,
    work: F,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Call<T, F> {
    pub(super) fn new(
        effect: Effect,
        work: F,
        reply: oneshot::Sender<Result<T, StoreError>>,
    ) -> Self {
        Self { effect, work, outcome: None, reply }
    }
}

impl<T, F> Job for Call<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> Result<T, StoreError> + Send,
{
    fn effect(&self) -> Effect {
        self.effect
    }

    fn run(&mut self, db: &Connection) -> bool {
        self.outcome.insert((self.work)(db)).is_ok()
    }

    fn run_apart(&mut self, db: &Connection) -> Result<(), StoreError> {
        self.outcome = Some(attempt(db, || (self.work)(db))?);
        Ok(())
    }

    fn lacked_space(&self) -> bool {
        matches!(self.outcome, Some(Err(StoreError::NoSpace(_))))
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let outcome = self.outcome.unwrap_or_else(|| Err(closed()));
        // The caller may be gone; the work is done anyway.
        let _ = self.reply.send(committed.and(outcome));
    }
}

/// The jobs in the order of their arrival.
pub(super) struct Jobs {
    queue: mpsc::Receiver<Box<dyn Job>>,
    /// The first of them, if it has left the queue.
    first: Option<Box<dyn Job>>,
}

impl Jobs {
    pub(super) fn new(queue: mpsc::Receiver<Box<dyn Job>>) -> Self {
        Self { queue, first: None }
    }

    /// Waits for a job. Returns `None` when the queue is closed and empty.
    pub(super) fn wait(&mut self) -> Option<Box<dyn Job>> {
        self.first.take().or_else(|| self.queue.blocking_recv())
    }

    /// This job and those after it that have arrived.
    pub(super) fn batch(&mut self, first: Box<dyn Job>) -> Vec<Box<dyn Job>> {
        let mut batch = vec![first];
        while batch.len() < BATCH
            && let Some(job) = self.next()
        {
            batch.push(job);
        }
        batch
    }

    /// The first job, if it has arrived and can join a transaction whose jobs have run. An unsynced
    /// transaction stays so. A deletion may take long, and a job that reads a stream cannot be
    /// repeated if a later one fails.
    pub(super) fn join(&mut self, synced: bool) -> Option<Box<dyn Job>> {
        let job = self.next()?;
        let joins = match job.effect() {
            Effect::Unsynced => true,
            Effect::Synced => synced,
            Effect::Erasing | Effect::Restoring => false,
        };
        if joins {
            return Some(job);
        }
        self.first = Some(job);
        None
    }

    /// The first job, if it has arrived.
    fn next(&mut self) -> Option<Box<dyn Job>> {
        self.first.take().or_else(|| self.queue.try_recv().ok())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.queue.is_empty()
    }
}

/// Runs `work`. If it fails, undoes its changes and returns its error as the inner result. The
/// outer error means that the transaction itself is lost: SQLite rolls it back on some failures,
/// such as a full disk.
pub(in crate::sqlite) fn attempt<T>(
    db: &Connection,
    work: impl FnOnce() -> Result<T, StoreError>,
) -> Result<Result<T, StoreError>, StoreError> {
    execute(db, "SAVEPOINT attempt")?;
    let outcome = work();
    if let Err(error) = &outcome {
        if db.is_autocommit() {
            return Err(error.clone());
        }
        execute(db, "ROLLBACK TO attempt")?;
    }
    execute(db, "RELEASE attempt")?;
    Ok(outcome)
}

/// Executes a command without parameters.
pub(super) fn execute(db: &Connection, command: &str) -> Result<(), StoreError> {
    db.prepare_cached(command)?.execute([])?;
    Ok(())
}

/// The error of a closed store.
pub(in crate::sqlite) fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".into())
}
