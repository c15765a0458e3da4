//! Runs calls on a connection, in a transaction if needed, and retries transient failures.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{self, BoxFuture};
use tokio::time::{sleep, timeout};

use super::failure::Failure;
use super::own_turns::OwnTurns;
use super::pool::Pool;
use super::session::Session;
use super::transaction::{self, Commit, Effect, Fate, Lock, Trace, Transaction};
use crate::error::StoreError;
use crate::observer::Observed;

/// The maximum number of attempts, if the failures are transient.
const TRIES: usize = 3;
/// The time limit for finding out the fate of a transaction.
const FATE_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause between two attempts to find it out.
const FATE_PAUSE: Duration = Duration::from_millis(100);

/// Work on a connection.
pub(super) type Work<A, T> = for<'a> fn(&'a Session, &'a A) -> BoxFuture<'a, Result<T, Failure>>;

/// Work in a transaction. Its first statements are sent with the begin of the transaction.
pub(super) type TransactionWork<A, T> =
    for<'a> fn(&'a Transaction, &'a A) -> BoxFuture<'a, Result<T, Failure>>;

/// The state that all calls share: the connections, and the name of this process in the database.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) pool: Pool,
    pub(super) holder: String,
    pub(super) own_turns: Arc<OwnTurns>,
    pub(super) observed: Observed,
}

impl Shared {
    /// Runs statements that may run twice: reads, and idempotent writes.
    pub(super) async fn run<A: Sync, T>(
        &self,
        given: &A,
        work: Work<A, T>,
    ) -> Result<T, StoreError> {
        let mut tries = 1..TRIES;
        loop {
            let outcome = match self.pool.borrow().await {
                Ok(session) => work(&session, given).await,
                Err(failure) => Err(failure),
            };
            match outcome {
                Err(failure) if failure.is_passing() && tries.next().is_some() => {}
                outcome => return Ok(outcome?),
            }
        }
    }

    /// Reads from one snapshot.
    pub(super) async fn snapshot<A: Sync, T>(
        &self,
        given: &A,
        work: Work<A, T>,
    ) -> Result<T, StoreError> {
        let mut tries = 1..TRIES;
        loop {
            match self.try_snapshot(given, work).await {
                Err(failure) if failure.is_passing() && tries.next().is_some() => {}
                outcome => return Ok(outcome?),
            }
        }
    }

    async fn try_snapshot<A: Sync, T>(&self, given: &A, work: Work<A, T>) -> Result<T, Failure> {
        let snapshot = Transaction::snapshot(self.pool.borrow().await?).await?;
        let outcome = work(&snapshot, given).await;
        snapshot.roll_back().await;
        outcome
    }

    /// Runs a transaction, which takes effect once or not at all.
    pub(super) async fn write<A: Sync, T>(
        &self,
        effect: Effect,
        lock: Lock<'_>,
        given: &A,
        work: TransactionWork<A, T>,
    ) -> Result<T, StoreError> {
        let begun = Instant::now();
        let outcome = self.write_with_retries(effect, lock, given, work).await;
        let is_success = !matches!(&outcome, Err(error) if error.is_outage());
        self.observed.report(1, begun, is_success);
        outcome
    }

    async fn write_with_retries<A: Sync, T>(
        &self,
        effect: Effect,
        lock: Lock<'_>,
        given: &A,
        work: TransactionWork<A, T>,
    ) -> Result<T, StoreError> {
        let mut tries = 1..TRIES;
        loop {
            match self.try_write(effect, lock, given, work).await {
                Err(failure) if failure.is_passing() && tries.next().is_some() => {}
                outcome => return Ok(outcome?),
            }
        }
    }

    async fn try_write<A: Sync, T>(
        &self,
        effect: Effect,
        lock: Lock<'_>,
        given: &A,
        work: TransactionWork<A, T>,
    ) -> Result<T, Failure> {
        let transaction = Transaction::new(self.pool.borrow().await?);
        let (began, outcome) =
            future::join(transaction.begin(effect, lock), work(&transaction, given)).await;
        let outcome = match began {
            // The answer to the begin was lost with that to the commit.
            Err(failure) if failure.is_silence() && transaction.may_have_committed() => outcome,
            began => began.and(outcome),
        };
        match outcome {
            Ok(done) => self.conclude(transaction, done).await,
            Err(failure) => {
                transaction.roll_back().await;
                Err(failure)
            }
        }
    }

    /// Commits. If the answer is lost, asks the database for the fate of the transaction. The
    /// transaction is retried only if it was certainly rolled back.
    pub(super) async fn conclude<T>(
        &self,
        transaction: Transaction,
        done: T,
    ) -> Result<T, Failure> {
        match transaction.commit().await {
            Commit::Done => Ok(done),
            Commit::Failed(failure) => Err(failure),
            Commit::AnswerLost(trace, failure) => match self.fate(&trace).await {
                Fate::Committed => Ok(done),
                Fate::Aborted => Err(failure),
                Fate::Unknown => Err(Failure::Refused(StoreError::Unavailable(
                    "the connection to PostgreSQL was lost during a commit; it is unknown whether \
                     the commit succeeded"
                        .into(),
                ))),
            },
        }
    }

    async fn fate(&self, trace: &Trace) -> Fate {
        let asking = async {
            loop {
                let fate = match self.pool.borrow().await {
                    Ok(session) => transaction::fate(&session, trace).await,
                    Err(failure) => Err(failure),
                };
                match fate {
                    Ok(fate) => return fate,
                    Err(_) => sleep(FATE_PAUSE).await,
                }
            }
        };
        timeout(FATE_TIMEOUT, asking).await.unwrap_or(Fate::Unknown)
    }
}
