//! The one thread that writes: what is asked of it while it commits is committed together next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use super::lock::FileLock;
use super::log::Log;
use super::reserve::Reserve;
use super::savepoint::attempt;
use super::vacuum::Vacuum;
use crate::error::StoreError;

/// How many jobs may wait; whoever asks for more waits to be let in.
const QUEUE: usize = 1024;

/// How many jobs are committed together at the most.
const BATCH: usize = 256;

/// To what length the write-ahead log may grow, in bytes.
const LOG_ROOM: u64 = 64 << 20;

type Queue = mpsc::Sender<Box<dyn Job>>;

/// What a job does to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing, or what need not survive a power cut.
    Unsynced,
    /// What must survive a power cut once it is answered.
    Synced,
    /// As `Synced`, and it deletes what must not be left anywhere in the files.
    Erasing,
}

/// A queue of jobs and the thread that does them, each whole or not at all, answered after the
/// commit. One that fails does not hurt those committed with it; a commit that fails fails them all.
///
/// Where the disk is full, the write-ahead log is emptied, and the jobs are tried once more, each by
/// itself, so that those that still fit are done. Those that erase may use a reserve of disk space.
///
/// A job that was let into the queue is done even if nobody waits for its answer any more. To drop
/// the writer waits for them.
#[derive(Debug)]
pub(super) struct Writer {
    /// `None` once closed.
    queue: Mutex<Option<Queue>>,
    /// Its other end goes when the thread ends.
    running: watch::Receiver<()>,
    /// `None` once joined.
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread, which owns `db` from now on, and lets `lock` go when `db` is closed.
    pub(super) fn start(db: Connection, lock: Option<Arc<FileLock>>) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let (alive, running) = watch::channel(());
        let reserve = lock.as_ref().map(|lock| Reserve::new(lock.path()));
        let committer = Committer::new(db, reserve)?;
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

    /// Has `work` done within a transaction; answers once it is committed. It may be done more than
    /// once: what it did before was undone.
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

    /// Takes no more jobs; returns when those in the queue are done and the database is closed.
    pub(super) async fn close(&self) {
        drop(self.lock().take());
        let ended = self.running.clone().changed().await;
        debug_assert!(ended.is_err(), "nothing is ever sent, the sender only goes");
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
            // An error is a panic of the thread, which was printed where it happened.
            let _ = thread.join();
        }
    }
}

/// The answer of a store that was closed.
pub(super) fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".into())
}

/// A call as the thread sees it, whatever its result's type.
trait Job: Send {
    fn effect(&self) -> Effect;

    /// Does the work; an error says that the transaction is lost.
    fn run(&mut self, db: &Connection) -> Result<(), StoreError>;

    /// Whether the work failed because the disk is full.
    fn lacked_space(&self) -> bool;

    /// Answers: with the work's outcome, or with why it could not be committed.
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

    fn run(&mut self, db: &Connection) -> Result<(), StoreError> {
        self.outcome = Some(attempt(db, || (self.work)(db))?);
        Ok(())
    }

    fn lacked_space(&self) -> bool {
        matches!(self.outcome, Some(Err(StoreError::NoSpace(_))))
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let outcome = self.outcome.unwrap_or_else(|| Err(closed()));
        // Whoever asked may have gone; what was asked is done all the same.
        let _ = self.reply.send(committed.and(outcome));
    }
}

/// The thread's own state.
struct Committer {
    db: Connection,
    /// Whether commits wait for the disk now.
    synced: bool,
    log: Log,
    vacuum: Vacuum,
    /// `None` in memory.
    reserve: Option<Reserve>,
}

impl Committer {
    fn new(db: Connection, reserve: Option<Reserve>) -> Result<Self, StoreError> {
        let (log, vacuum) = (Log::of(&db, LOG_ROOM), Vacuum::new(&db)?);
        let mut committer = Self { db, synced: false, log, vacuum, reserve };
        committer.sync(true)?;
        Ok(committer)
    }

    fn run(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        while let Some(first) = jobs.blocking_recv() {
            self.commit(batch(first, &mut jobs));
            self.log.tend(&self.db, jobs.is_empty());
            self.shrink(&jobs);
        }
        self.log.empty(&self.db);
        if let Err((_, error)) = self.db.close() {
            tracing::warn!(%error, "the database did not close");
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

    /// Makes space and tries these jobs, for which there was none, once more, each by itself. Only
    /// those that erase use the reserve: what others write would not be given back.
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

    /// Does `work` while the reserve is given up and the write-ahead log is short.
    fn with_reserve<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.reserve.iter().for_each(Reserve::give_up);
        self.log.empty(&self.db);
        let done = work(self);
        self.log.empty(&self.db);
        self.reserve.iter().for_each(Reserve::take);
        done
    }

    /// Gives the space of deleted data back while no jobs wait.
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

    fn vacuum_step(&mut self) -> Result<bool, StoreError> {
        self.sync(false)?;
        self.vacuum.step(&self.db)
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
        self.sync(batch.iter().any(|job| job.effect() != Effect::Unsynced))?;
        self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let done = self.run_all(batch);
        if done.is_err() && !self.db.is_autocommit() {
            self.db.execute_batch("ROLLBACK")?;
        }
        done
    }

    fn run_all(&self, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        batch.iter_mut().try_for_each(|job| job.run(&self.db))?;
        self.db.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    /// Without a sync the log is still written in order, so that a power cut takes the last commits
    /// but breaks nothing.
    fn sync(&mut self, synced: bool) -> Result<(), StoreError> {
        if self.synced != synced {
            let mode = if synced { "full" } else { "normal" };
            self.db.pragma_update(None, "synchronous", mode)?;
            self.synced = synced;
        }
        Ok(())
    }
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

#[cfg(test)]
mod tests;
