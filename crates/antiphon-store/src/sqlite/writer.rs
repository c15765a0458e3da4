//! The single writing thread. Calls that arrive during a commit are committed together next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rusqlite::Connection;
use rusqlite::hooks::Action;
use tokio::sync::{mpsc, oneshot, watch};

use super::lock::FileLock;
use super::log::Log;
use super::reserve::Reserve;
use super::vacuum::Vacuum;
use crate::error::StoreError;
use crate::hot_transcripts::HotTranscripts;
use crate::observer::Observed;

/// The maximum number of jobs in the queue. Further callers wait for room.
const QUEUE: usize = 1024;

/// The maximum number of jobs in one commit.
const BATCH: usize = 256;

/// The length that the write-ahead log may reach, in bytes.
const LOG_ROOM: u64 = 64 << 20;

/// Starts a transaction that may write.
const BEGIN: &str = "BEGIN IMMEDIATE";

type Queue = mpsc::Sender<Box<dyn Job>>;

/// The durability that a job needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It changes nothing, or its changes need not survive a power cut.
    Unsynced,
    /// Once answered, its changes must survive a power cut.
    Synced,
    /// As `Synced`, and it deletes data that must not remain anywhere in the files.
    Erasing,
    /// As `Synced`, and it reads a stream that cannot be read twice.
    Restoring,
}

/// A queue of jobs and the thread that runs them. Each job is atomic, and is answered after the
/// commit. A failed job does not affect the others in its commit; a failed commit fails them all.
///
/// If the disk is full, the writer empties the write-ahead log and retries the failed jobs, each
/// alone, so that the jobs that still fit succeed. Erasing jobs may use a reserve of disk space.
///
/// A queued job runs even if its caller is gone. Dropping the writer waits for all of them.
#[derive(Debug)]
pub(super) struct Writer {
    /// `None` once closed.
    queue: Mutex<Option<Queue>>,
    /// Its sender is dropped when the thread ends.
    running: watch::Receiver<()>,
    /// `None` once joined.
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. It owns `db`, and releases `lock` after it has closed `db`.
    pub(super) fn start(
        db: Connection,
        lock: Option<Arc<FileLock>>,
        hot: Arc<HotTranscripts>,
        observed: Observed,
    ) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let (alive, running) = watch::channel(());
        let reserve = lock.as_ref().map(|lock| Reserve::new(lock.path()));
        let committer = Committer::new(db, reserve, hot, observed)?;
        let thread = thread::Builder::new()
            .name("antiphon-writer".into())
            .spawn(move || {
                committer.run(jobs);
                drop(lock);
                drop(alive);
            })
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { queue: Mutex::new(Some(queue)), running, thread: Some(thread) })
    }

    /// Runs `work` in a transaction, and returns once that is committed. `work` may run more than
    /// once; the changes of each earlier run are undone first.
    pub(super) async fn call<T, F>(&self, effect: Effect, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Call { effect, work, outcome: None, reply });
        let queue = self.queue().ok_or_else(closed)?;
        queue.send(job).await.map_err(|_| closed())?;
        drop(queue);
        answer.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Stops accepting jobs. Returns when the queue is empty and the database is closed.
    pub(super) async fn close(&self) {
        drop(self.lock().take());
        let ended = self.running.clone().changed().await;
        debug_assert!(ended.is_err(), "the sender is dropped and never sends");
    }

    /// The number of jobs in the queue.
    pub(super) fn waiting(&self) -> usize {
        self.lock().as_ref().map_or(0, |queue| queue.max_capacity() - queue.capacity())
    }

    fn queue(&self) -> Option<Queue> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Queue>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.lock().take());
        if let Some(thread) = self.thread.take() {
            // The only error is a panic of the thread, which was printed when it happened.
            let _ = thread.join();
        }
    }
}

/// The error of a closed store.
pub(super) fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".into())
}

/// A queued call, independent of the type of its result.
trait Job: Send {
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

struct Call<T, F> {
    effect: Effect,
    work: F,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
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

/// The state of the thread.
struct Committer {
    db: Connection,
    /// Whether commits currently wait for the disk.
    synced: bool,
    log: Log,
    vacuum: Vacuum,
    /// `None` for a database in memory.
    reserve: Option<Reserve>,
    hot: Arc<HotTranscripts>,
    observed: Observed,
}

impl Committer {
    fn new(
        db: Connection,
        reserve: Option<Reserve>,
        hot: Arc<HotTranscripts>,
        observed: Observed,
    ) -> Result<Self, StoreError> {
        watch(&db, Arc::clone(&hot))?;
        let (log, vacuum) = (Log::new(&db, LOG_ROOM), Vacuum::new(&db)?);
        let mut committer = Self { db, synced: false, log, vacuum, reserve, hot, observed };
        committer.sync(true)?;
        Ok(committer)
    }

    fn run(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        while let Some(first) = jobs.blocking_recv() {
            // Threads that are ready to run may queue more jobs, which this commit then includes.
            thread::yield_now();
            self.commit(batch(first, &mut jobs));
            self.log.tend(&self.db, jobs.is_empty());
            self.shrink(&jobs);
        }
        self.log.empty(&self.db);
        if let Err((_, error)) = self.db.close() {
            tracing::warn!(%error, "could not close the database");
        }
    }

    fn commit(&mut self, mut batch: Vec<Box<dyn Job>>) {
        let committed = self.transact(&mut batch);
        if matches!(committed, Err(StoreError::NoSpace(_))) {
            return self.commit_apart(batch);
        }
        let (lacking, done) = batch.into_iter().partition(|job| job.lacked_space());
        self.answer(done, &committed);
        self.commit_apart(lacking);
    }

    /// Frees space and retries each of these jobs, which failed for lack of space, alone. Only the
    /// erasing ones use the reserve: others would consume it permanently.
    fn commit_apart(&mut self, lacking: Vec<Box<dyn Job>>) {
        if lacking.is_empty() {
            return;
        }
        let (erasing, others): (Vec<_>, Vec<_>) =
            lacking.into_iter().partition(|job| job.effect() == Effect::Erasing);
        self.vacuum.hurry();
        self.with_reserve(|committer| committer.commit_each(erasing));
        self.commit_each(others);
    }

    fn commit_each(&mut self, jobs: Vec<Box<dyn Job>>) {
        for job in jobs {
            self.log.empty(&self.db);
            let mut alone = vec![job];
            let committed = self.transact(&mut alone);
            self.answer(alone, &committed);
        }
    }

    /// Runs `work` with the reserve released and the write-ahead log empty.
    fn with_reserve<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.reserve.iter().for_each(Reserve::give_up);
        self.log.empty(&self.db);
        let done = work(self);
        self.log.empty(&self.db);
        self.reserve.iter().for_each(Reserve::take);
        done
    }

    /// Returns the space of deleted data to the file system while no jobs wait.
    fn shrink(&mut self, jobs: &mpsc::Receiver<Box<dyn Job>>) {
        let mut has_shrunk = false;
        while jobs.is_empty() && !self.log.is_held() {
            let stepped = match self.vacuum_step() {
                Err(StoreError::NoSpace(_)) => self.with_reserve(Self::vacuum_step),
                stepped => stepped,
            };
            match stepped {
                Ok(true) => has_shrunk = true,
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(%error, "could not shrink the database; deletes will try again");
                    break;
                }
            }
            self.log.tend(&self.db, false);
        }
        if has_shrunk {
            self.log.empty(&self.db);
        }
    }

    /// Moves a few free pages if there are too many. Returns whether it did.
    fn vacuum_step(&mut self) -> Result<bool, StoreError> {
        if !self.vacuum.is_due(&self.db)? {
            return Ok(false);
        }
        self.sync(false)?;
        Vacuum::step(&self.db)?;
        Ok(true)
    }

    fn answer(&mut self, batch: Vec<Box<dyn Job>>, committed: &Result<(), StoreError>) {
        if batch.iter().any(|job| job.effect() == Effect::Erasing) {
            self.log.note_erasure();
        }
        for job in batch {
            job.answer(committed.clone());
        }
    }

    fn transact(&mut self, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let begun = Instant::now();
        let committed = self.try_to_transact(batch);
        let is_success = committed.is_ok() && !batch.iter().any(|job| job.lacked_space());
        self.observed.report(batch.len(), begun, is_success);
        committed
    }

    fn try_to_transact(&mut self, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        self.sync(batch.iter().any(|job| job.effect() != Effect::Unsynced))?;
        execute(&self.db, BEGIN)?;
        let done = self.run_all(batch);
        if done.is_err() {
            self.roll_back()?;
            // In memory, the jobs themselves are readers, and may have read what was undone.
            self.hot.begin_change();
        }
        self.hot.end_transaction();
        done
    }

    /// Runs the jobs and commits. Jobs seldom fail, so they run without savepoints first: after a
    /// savepoint, SQLite copies every page that changes.
    fn run_all(&self, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let is_repeatable = batch.iter().all(|job| job.effect() != Effect::Restoring);
        if !is_repeatable || !batch.iter_mut().all(|job| job.run(&self.db)) {
            self.roll_back()?;
            execute(&self.db, BEGIN)?;
            batch.iter_mut().try_for_each(|job| job.run_apart(&self.db))?;
        }
        execute(&self.db, "COMMIT")
    }

    fn roll_back(&self) -> Result<(), StoreError> {
        match self.db.is_autocommit() {
            true => Ok(()),
            false => execute(&self.db, "ROLLBACK"),
        }
    }

    /// Without syncs the log is still written in order, so a power cut loses the last commits but
    /// corrupts nothing.
    fn sync(&mut self, synced: bool) -> Result<(), StoreError> {
        if self.synced != synced {
            let mode = if synced { "full" } else { "normal" };
            self.db.pragma_update(None, "synchronous", mode)?;
            self.synced = synced;
        }
        Ok(())
    }
}

/// Empties the hot transcripts before a transaction changes a segment.
fn watch(db: &Connection, hot: Arc<HotTranscripts>) -> Result<(), StoreError> {
    db.update_hook(Some(move |action, _: &str, table: &str, _| {
        if table == "segments" && action != Action::SQLITE_INSERT {
            hot.begin_change();
        }
    }))?;
    Ok(())
}

fn batch(first: Box<dyn Job>, jobs: &mut mpsc::Receiver<Box<dyn Job>>) -> Vec<Box<dyn Job>> {
    let mut batch = vec![first];
    while batch.len() < BATCH
        && let Ok(job) = jobs.try_recv()
    {
        batch.push(job);
    }
    batch
}

/// Runs `work`. If it fails, undoes its changes and returns its error as the inner result. The
/// outer error means that the transaction itself is lost: SQLite rolls it back on some failures,
/// such as a full disk.
pub(super) fn attempt<T>(
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

fn execute(db: &Connection, command: &str) -> Result<(), StoreError> {
    db.prepare_cached(command)?.execute([])?;
    Ok(())
}

#[cfg(test)]
mod tests;
