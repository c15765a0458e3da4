//! Transactions: each begins with its lock and commits at most once.

use std::ops::Deref;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use deadpool::managed::Object;
use futures_util::future;

use super::failure::Failure;
use super::pool::Borrowed;
use super::session::Session;
use super::statements::statements;
use crate::ids::{ConversationId, Shard, Tenant};
use crate::keys::{self, row_key};

/// The failure that a committed transaction must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// A power cut: the commit waits for the disk.
    Synced,
    /// A crash of the process that called.
    Unsynced,
}

/// The lock that a transaction takes when it begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lock<'a> {
    Nothing,
    /// A tree of forks. Every writer to a tree holds its lock, and each write touches one tree
    /// only. Under READ COMMITTED, a statement sees all data committed before it, so the writes to
    /// a tree are serialized. No write waits for a second tree. Other locks that writes to
    /// different trees can wait for are locks of rows: the connection's row in the tenant's counts
    /// (`usage.sql`), at most one per write to a tree, and the row of a provider's name. If
    /// PostgreSQL reports a deadlock on such rows, the call runs again ([`Failure::is_passing`]).
    Tree(&'a Tenant, Shard),
    /// The queue of a conversation: its places become visible in the order in which they are drawn.
    LeaseQueue(&'a Tenant, &'a ConversationId),
}

/// A transaction. If it is dropped before it ends, its connection is closed with it, so that the
/// server rolls it back.
///
/// A transaction needs as few as two round trips: the first statements are sent with its begin, and
/// the last ones with its commit ([`Transaction::commit_with`]). It needs one if a statement checks
/// the [number](Transaction::expected_number) of its commit, so that all are sent together.
pub(super) struct Transaction {
    session: Option<Borrowed>,
    /// The number of this commit among those of its connection; 0 if it is not known yet.
    number: AtomicI64,
    /// The answer to the commit, once [`Transaction::commit_with`] has sent it.
    committed: Mutex<Option<Result<(), Failure>>>,
}

/// The fate of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Committed,
    Aborted,
    /// The database has no record of it, or did not answer.
    Unknown,
}

/// The result of a commit.
pub(super) enum Commit {
    Done,
    Failed(Failure),
    /// The connection was lost before the answer arrived.
    AnswerLost(Trace, Failure),
}

/// Identifies a transaction whose connection was lost.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    session: String,
    /// `None` if the transaction ended before it was numbered.
    number: Option<i64>,
}

impl Transaction {
    /// A transaction that has not begun.
    pub(super) fn new(session: Borrowed) -> Self {
        Self { session: Some(session), number: AtomicI64::new(0), committed: Mutex::new(None) }
    }

    /// Begins the transaction and waits for the lock. Statements that are sent meanwhile run after
    /// that, and fail if it fails.
    pub(super) async fn begin(&self, effect: Effect, lock: Lock<'_>) -> Result<(), Failure> {
        let begin = self.command(match effect {
            Effect::Synced => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Effect::Unsynced => {
                "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off"
            }
        });
        let numbered = async {
            self.number.store(count(self).await?, Ordering::Relaxed);
            Ok(())
        };
        let (began, numbered, locked) = future::join3(begin, numbered, take(self, lock)).await;
        began.and(numbered).and(locked)
    }

    /// The number that this commit has if it is the next one of its connection. `None` if the
    /// connection has not committed yet.
    ///
    /// After this call, the commit may be sent before any statement was answered, together with a
    /// statement that fails if the number is another one: [`fate`] relies on the number.
    pub(super) fn expected_number(&self) -> Option<i64> {
        let number = self.last_commit()?.checked_add(1)?;
        self.number.store(number, Ordering::Relaxed);
        Some(number)
    }

    /// Begins a reading transaction, as of now.
    pub(super) async fn snapshot(session: Borrowed) -> Result<Self, Failure> {
        let begun = Self::new(session);
        begun.command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        Ok(begun)
    }

    /// Sends the last statements and the commit together.
    ///
    /// `last` must send all of its statements when it is first polled, and may fail only because
    /// the server rejected one of them: the server then rolls back instead of committing, and the
    /// transaction can begin again. The number of the commit must be known: some statement of the
    /// transaction was answered, or `last` checks the [number](Transaction::expected_number).
    pub(super) async fn commit_with(
        &self,
        last: impl Future<Output = Result<(), Failure>>,
    ) -> Result<(), Failure> {
        let (written, committed) = future::join(last, self.command("COMMIT")).await;
        let answer = match written {
            Ok(()) => committed,
            Err(failure) if failure.is_silence() => Err(failure),
            Err(failure) => return Err(failure),
        };
        *self.committed.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        Ok(())
    }

    /// Whether the commit was sent, and may have succeeded.
    pub(super) fn may_have_committed(&self) -> bool {
        self.committed.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Commits, unless [`Transaction::commit_with`] has done so. Reports the answer.
    pub(super) async fn commit(mut self) -> Commit {
        let sent = self.committed.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let answer = match sent {
            Some(answer) => answer,
            None => self.command("COMMIT").await,
        };
        match answer {
            Ok(()) => {
                self.note_commit(self.number.load(Ordering::Relaxed));
                self.session.take();
                Commit::Done
            }
            Err(failure) if failure.is_silence() => Commit::AnswerLost(self.trace(), failure),
            Err(failure) => Commit::Failed(failure),
        }
    }

    fn trace(&self) -> Trace {
        let number = self.number.load(Ordering::Relaxed);
        Trace { session: self.id.clone(), number: (number != 0).then_some(number) }
    }

    /// Rolls the transaction back. If that fails, closes the connection.
    pub(super) async fn roll_back(mut self) {
        if self.command("ROLLBACK").await.is_ok() {
            self.session.take();
        }
    }
}

impl Deref for Transaction {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session.as_deref().expect("the connection is given up with the transaction only")
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            drop(Object::take(session));
        }
    }
}

/// Increments the connection's count of commits. Returns the number of this commit.
async fn count(db: &Session) -> Result<i64, Failure> {
    let row = db.row(&COUNT, &[&db.id, &db.holder]).await?;
    Ok(row.ok_or_else(|| Failure::unreadable("no count of commits"))?.get(0))
}

async fn take(db: &Session, lock: Lock<'_>) -> Result<(), Failure> {
    match lock {
        Lock::Nothing => return Ok(()),
        Lock::Tree(tenant, shard) => {
            db.row(&LOCK_TREE, &[&tenant.as_str(), &keys::shard(shard)]).await?
        }
        Lock::LeaseQueue(tenant, id) => {
            let given = row_key(tenant, id);
            db.row(&LOCK_LINE, &[&given.0, &given.1, &given.2]).await?
        }
    };
    Ok(())
}

/// The fate of a transaction. While the transaction is open, it holds the lock of its row in
/// `sessions`, so this call waits until the transaction has ended. It closes the count of the lost
/// connection: a transaction that the server has received and not begun finds a number that it does
/// not expect.
///
/// PostgreSQL's own transaction ids would not work: after a crash, it reuses the ids of
/// transactions that left no trace.
pub(super) async fn fate(db: &Session, trace: &Trace) -> Result<Fate, Failure> {
    let row = db.row(&FATE, &[&trace.session]).await?;
    Ok(match row.map(|row| row.get::<_, i64>(0)).zip(trace.number) {
        Some((commits, number)) if commits >= number => Fate::Committed,
        Some(_) => Fate::Aborted,
        None => Fate::Unknown,
    })
}

statements! {
    /// The row exists, unless the process was presumed dead.
    COUNT = "
        WITH counted AS (
            UPDATE sessions SET commits = commits + 1 WHERE id = $1 RETURNING commits
        ), opened AS (
            INSERT INTO sessions (id, holder, commits)
            SELECT $1, $2, 1 WHERE NOT EXISTS (SELECT FROM counted)
            RETURNING commits
        )
        SELECT commits FROM counted UNION ALL SELECT commits FROM opened";
    LOCK_TREE = "SELECT pg_advisory_xact_lock(hashtextextended($1::text, $2::bigint))";
    LOCK_LINE = "
        SELECT pg_advisory_xact_lock(hashtextextended($3::text || ' ' || $1::text, $2::bigint))";
    /// A closed count is negative.
    FATE = "
        UPDATE sessions SET commits = CASE WHEN commits < 0 THEN commits ELSE -1 - commits END
        WHERE id = $1 RETURNING -1 - commits";
}
