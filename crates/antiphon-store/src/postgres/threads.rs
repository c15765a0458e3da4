//! Threads: their ends and their lineages.

use tokio_postgres::Row;

use super::failure::Failure;
use super::session::Session;
use super::statements::statements;
use crate::ids::ThreadId;
use crate::keys::{ThreadKey, position, seq_from_column, thread, thread_from_column};
use crate::records::{RequestDigest, Seq};
use crate::restore::ThreadRecord;

type Result<T> = std::result::Result<T, Failure>;

/// The state of a thread.
pub(super) struct Thread {
    /// One past its last item.
    pub(super) tip: Seq,
    /// Whether a conversation names it, or did so in the past.
    pub(super) named: bool,
}

pub(super) async fn find(db: &Session, key: ThreadKey<'_>) -> Result<Option<Thread>> {
    let found = db.row(&FIND, &[&key.tenant(), &key.shard(), &key.thread()]).await?;
    Ok(found.map(|row| Thread { tip: seq_from_column(row.get(0)), named: row.get(1) }))
}

/// The record of a thread.
pub(super) async fn record(db: &Session, key: ThreadKey<'_>) -> Result<Option<ThreadRecord>> {
    let found = db.row(&RECORD, &[&key.tenant(), &key.shard(), &key.thread()]).await?;
    Ok(found.map(|row| read_record(&row, key, 0)))
}

/// Reads a record from the columns lineage, uptos, tip, named.
pub(super) fn read_record(row: &Row, key: ThreadKey<'_>, from: usize) -> ThreadRecord {
    let (lineage, uptos): (Vec<i64>, Vec<i64>) = (row.get(from), row.get(from + 1));
    let lineage = lineage.into_iter().zip(uptos);
    ThreadRecord {
        shard: key.in_shard,
        thread: key.id,
        lineage: lineage
            .map(|(id, upto)| (thread_from_column(id), seq_from_column(upto)))
            .collect(),
        tip: seq_from_column(row.get(from + 2)),
        is_named: row.get(from + 3),
    }
}

/// Creates a thread from its record.
pub(super) async fn create(db: &Session, key: ThreadKey<'_>, record: &ThreadRecord) -> Result<()> {
    let (lineage, uptos): (Vec<i64>, Vec<i64>) =
        record.lineage.iter().map(|(id, upto)| (thread(*id), position(*upto))).unzip();
    db.execute(
        &CREATE,
        &[
            &key.tenant(),
            &key.shard(),
            &key.thread(),
            &lineage,
            &uptos,
            &record.parent().map(thread),
            &position(record.base()),
            &position(record.tip),
            &record.is_named,
        ],
    )
    .await
    .map(drop)
}

/// Creates a thread without a lineage.
pub(super) async fn create_root(
    db: &Session,
    key: ThreadKey<'_>,
    tip: Seq,
    named: bool,
) -> Result<()> {
    let given = (key.tenant(), key.shard(), key.thread(), position(tip));
    db.execute(&CREATE_ROOT, &[&given.0, &given.1, &given.2, &given.3, &named]).await.map(drop)
}

/// Creates a thread that continues `parent` from `base`. Its items end at `tip`. If `parent` was
/// deleted meanwhile, the fork lacks the lineage of `parent` too.
pub(super) async fn create_fork(
    db: &Session,
    parent: ThreadKey<'_>,
    base: Seq,
    fork: ThreadKey<'_>,
    tip: Seq,
) -> Result<()> {
    let given = (fork.tenant(), fork.shard(), fork.thread(), parent.thread());
    let (base, tip) = (position(base), position(tip));
    db.execute(&CREATE_FORK, &[&given.0, &given.1, &given.2, &given.3, &base, &tip]).await.map(drop)
}

/// Moves the thread's end to `tip` after an append, and records its last turn: the request that it
/// answers and its start. `None` if something other than a turn came last.
pub(super) async fn advance(
    db: &Session,
    key: ThreadKey<'_>,
    tip: Seq,
    turn: Option<(&RequestDigest, Seq)>,
) -> Result<()> {
    let (request, from) = turn.unzip();
    let (request, from) = (request.map(|it| &it.0[..]), from.map(position));
    let given = (key.tenant(), key.shard(), key.thread(), position(tip));
    db.execute(&ADVANCE, &[&given.0, &given.1, &given.2, &given.3, &request, &from]).await.map(drop)
}

/// Deletes a thread. Returns its parent.
pub(super) async fn remove(db: &Session, key: ThreadKey<'_>) -> Result<Option<ThreadId>> {
    let removed = db.row(&REMOVE, &[&key.tenant(), &key.shard(), &key.thread()]).await?;
    Ok(removed.and_then(|row| row.get::<_, Option<i64>>(0)).map(thread_from_column))
}

statements! {
    FIND = "SELECT tip, named FROM threads WHERE tenant = $1 AND shard = $2 AND thread = $3";
    RECORD = "
        SELECT lineage, uptos, tip, named FROM threads
        WHERE tenant = $1 AND shard = $2 AND thread = $3";
    CREATE = "
        INSERT INTO threads (tenant, shard, thread, lineage, uptos, parent, base, tip, named)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    CREATE_ROOT = "
        INSERT INTO threads (tenant, shard, thread, lineage, uptos, parent, base, tip, named)
        VALUES ($1, $2, $3, '{}', '{}', NULL, 0, $4, $5)";
    CREATE_FORK = "
        INSERT INTO threads (tenant, shard, thread, lineage, uptos, parent, base, tip, named)
        SELECT $1, $2, $3, array_append(lineage, $4), array_append(uptos, $5), $4, $5, $6, false
        FROM (SELECT $4::bigint AS thread) AS parent
        LEFT JOIN (
            SELECT thread, lineage, uptos FROM threads
            WHERE tenant = $1 AND shard = $2 AND thread = $4
        ) AS known USING (thread)";
    ADVANCE = "
        UPDATE threads SET tip = $4, last_request = $5, last_from = $6
        WHERE tenant = $1 AND shard = $2 AND thread = $3";
    REMOVE = "
        DELETE FROM threads WHERE tenant = $1 AND shard = $2 AND thread = $3 RETURNING parent";
}
