//! Transactions: begun with their lock, committed once.

use std::ops::Deref;

use deadpool::managed::Object;
use futures_util::future;

use super::failure::Failure;
use super::pool::Borrowed;
use super::session::Session;
use super::statements::statements;
use crate::ids::{ConversationId, Shard, Tenant};
use crate::keys;

/// What a transaction must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// A power cut: its end waits for the disk.
    Synced,
    /// The process that asked for it.
    Unsynced,
}

/// What a transaction has to itself from its beginning on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lock<'a> {
    Nothing,
    /// A tree of forks. Whoever writes to a tree has its lock, and all that a write touches is in one
    /// tree: under READ COMMITTED, where each statement sees what was committed before it, writes to
    /// a tree see one another whole, one after the other. The only other lock that a write waits
    /// for is the row of its connection in the tenant's counts (`usage.sql`). It needs one such row at
    /// the most, so there is no deadlock.
    Tree(&'a Tenant, Shard),
    /// The line for a conversation: places are drawn, and come to be seen, in order.
    Line(&'a Tenant, &'a ConversationId),
}

/// A transaction. One that is let go without an end takes its connection along, so that
/// the server undoes it.
pub(super) struct Transaction {
    session: Option<Borrowed>,
    /// Which of its connection's commits it will be.
    number: i64,
}

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Committed,
    Aborted,
    /// Nothing tells.
    Unknown,
}

/// How a commit ended.
pub(super) enum Commit {
    Done,
    Failed(Failure),
    /// The connection was lost before the answer came.
    Unheard(Trace, Failure),
}

/// By what a transaction is known whose connection is lost.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    session: String,
    number: i64,
}

impl Transaction {
    /// Begins, and waits for the lock.
    pub(super) async fn begin(
        session: Borrowed,
        effect: Effect,
        lock: Lock<'_>,
    ) -> Result<Self, Failure> {
        let mut begun = Self { session: Some(session), number: 0 };
        let begin = begun.command(match effect {
            Effect::Synced => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Effect::Unsynced => {
                "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off"
            }
        });
        let (began, number, locked) = future::join3(begin, count(&begun), take(&begun, lock)).await;
        began?;
        begun.number = number?;
        locked?;
        Ok(begun)
    }

    /// Begins to read, as of now.
    pub(super) async fn snapshot(session: Borrowed) -> Result<Self, Failure> {
        let begun = Self { session: Some(session), number: 0 };
        begun.command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        Ok(begun)
    }

    pub(super) async fn commit(mut self) -> Commit {
        match self.command("COMMIT").await {
            Ok(()) => {
                self.session.take();
                Commit::Done
            }
            Err(failure) if failure.is_silence() => {
                Commit::Unheard(Trace { session: self.id.clone(), number: self.number }, failure)
            }
            Err(failure) => Commit::Failed(failure),
        }
    }

    /// Undoes what was done. Where even that fails, the connection goes.
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

/// Counts the commit that the transaction will be.
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
        Lock::Line(tenant, id) => {
            let given = (tenant.as_str(), keys::shard(id.shard()), id.as_str());
            db.row(&LOCK_LINE, &[&given.0, &given.1, &given.2]).await?
        }
    };
    Ok(())
}

/// What became of a transaction. While it may still go either way, this waits for it: the row that it
/// counted in is its until then.
///
/// PostgreSQL's own transaction numbers would not tell: after a crash, it gives those that left no
/// trace to others.
pub(super) async fn fate(db: &Session, trace: &Trace) -> Result<Fate, Failure> {
    let row = db.row(&FATE, &[&trace.session]).await?;
    Ok(match row.map(|row| row.get::<_, i64>(0)) {
        Some(commits) if commits >= trace.number => Fate::Committed,
        Some(_) => Fate::Aborted,
        None => Fate::Unknown,
    })
}

statements! {
    /// The row is there, unless the process was taken for dead.
    COUNT = "
        INSERT INTO sessions (id, holder, commits) VALUES ($1, $2, 1)
        ON CONFLICT (id) DO UPDATE SET commits = sessions.commits + 1
        RETURNING commits";
    LOCK_TREE = "SELECT pg_advisory_xact_lock(hashtextextended($1::text, $2::bigint))";
    LOCK_LINE = "
        SELECT pg_advisory_xact_lock(hashtextextended($3::text || ' ' || $1::text, $2::bigint))";
    FATE = "SELECT commits FROM sessions WHERE id = $1 FOR UPDATE";
}
