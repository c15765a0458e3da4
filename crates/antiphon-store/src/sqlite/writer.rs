//! The single writing thread. Calls that arrive while others run are committed with them if they
//! can be, and those that arrive during a commit are committed together next.

mod queue;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rusqlite::Connection;
use rusqlite::hooks::Action;
use tokio::sync::{mpsc, oneshot, watch};

use self::queue::{Call, Job, Jobs, execute};
pub(super) use self::queue::{Effect, attempt, closed};
use super::lock::FileLock;
use super::log::Log;
use super::reserve::Reserve;
use super::vacuum::Vacuum;
use crate::error::StoreError;
use crate::hot_transcripts::HotTranscripts;
use crate::observer::Observed;

/// The maximum number of jobs in the queue. Further callers wait for room.
const QUEUE: usize = 1024;

/// The maximum number of jobs that join a commit whose jobs have run: each of those waits for them.
const MAX_JOINING: usize = 32;

/// The length that the write-ahead log may reach, in bytes.
const LOG_ROOM: u64 = 64 << 20;

/// Starts a transaction that may write.
const BEGIN: &str = "BEGIN IMMEDIATE";

type Queue = mpsc::Sender<Box<dyn Job>>;

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
                committer.run(Jobs::new(jobs));
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
        let job = Box::new(Call::new(effect, work, reply));
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

    /// The number of jobs in the queue, without those that the thread has taken.
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

    fn run(mut self, mut jobs: Jobs) {
        while let Some(first) = jobs.wait() {
            // Threads that are ready to run may queue more jobs, which this commit then includes.
            thread::yield_now();
            self.commit(jobs.batch(first), &mut jobs);
            self.log.tend(&self.db, jobs.is_empty());
            self.shrink(&jobs);
        }
        self.log.empty(&self.db);
        if let Err((_, error)) = self.db.close() {
            tracing::warn!(%error, "could not close the database");
        }
    }

    fn commit(&mut self, mut batch: Vec<Box<dyn Job>>, jobs: &mut Jobs) {
        let committed = self.transact(&mut batch, Some(jobs));
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
            let committed = self.transact(&mut alone, None);
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
    fn shrink(&mut self, jobs: &Jobs) {
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

    /// Commits the batch, and those of the `later` jobs that arrive while its jobs run.
    fn transact(
        &mut self,
        batch: &mut Vec<Box<dyn Job>>,
        later: Option<&mut Jobs>,
    ) -> Result<(), StoreError> {
        let begun = Instant::now();
        let committed = self.try_to_transact(batch, later);
        let is_success = committed.is_ok() && !batch.iter().any(|job| job.lacked_space());
        self.observed.report(batch.len(), begun, is_success);
        committed
    }

    fn try_to_transact(
        &mut self,
        batch: &mut Vec<Box<dyn Job>>,
        later: Option<&mut Jobs>,
    ) -> Result<(), StoreError> {
        self.sync(batch.iter().any(|job| job.effect() != Effect::Unsynced))?;
        execute(&self.db, BEGIN)?;
        let done = self.run_all(batch, later);
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
    fn run_all(
        &self,
        batch: &mut Vec<Box<dyn Job>>,
        later: Option<&mut Jobs>,
    ) -> Result<(), StoreError> {
        let is_repeatable = batch.iter().all(|job| job.effect() != Effect::Restoring);
        if !is_repeatable || !self.run_together(batch, later) {
            self.roll_back()?;
            execute(&self.db, BEGIN)?;
            batch.iter_mut().try_for_each(|job| job.run_apart(&self.db))?;
        }
        execute(&self.db, "COMMIT")
    }

    /// Runs the jobs, and those of the `later` ones that have arrived and can join them. Returns
    /// whether all succeeded.
    fn run_together(&self, batch: &mut Vec<Box<dyn Job>>, later: Option<&mut Jobs>) -> bool {
        let mut is_success = batch.iter_mut().all(|job| job.run(&self.db));
        let Some(later) = later else { return is_success };
        for _ in 0..MAX_JOINING {
            if !is_success {
                break;
            }
            let Some(mut job) = later.join(self.synced) else { break };
            is_success = job.run(&self.db);
            batch.push(job);
        }
        is_success
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

#[cfg(test)]
mod tests;
