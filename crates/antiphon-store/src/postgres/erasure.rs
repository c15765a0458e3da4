//! Erases all data of a tenant.

use antiphon::HeldItem;
use tokio_postgres::Row;

use super::failure::Failure;
use super::segments::{self, Segment};
use super::session::Session;
use super::shared::Shared;
use super::statements::statements;
use super::transaction::{Effect, Lock};
use super::{data_counts, item_ids};
use crate::error::StoreError;
use crate::ids::{Shard, Tenant};
use crate::keys::{self, ThreadKey, thread_from_column};
use crate::records::{NewResponse, Seq};
use crate::snapshot::DataCounts;
use crate::usage::Usage;

type Result<T> = std::result::Result<T, Failure>;

/// Deletes at most `limit` rows of a tenant, within one tree of forks, and returns their counts.
/// From then on, turns that began before `now` can no longer be committed.
pub(super) async fn erase(
    shared: &Shared,
    tenant: Tenant,
    now: i64,
    limit: usize,
) -> std::result::Result<DataCounts, StoreError> {
    let limit = keys::limit(limit);
    let given = (tenant, now, limit);
    shared
        .write(Effect::Unsynced, Lock::Nothing, &given, |db, (tenant, now, _)| {
            Box::pin(note(db, tenant, *now))
        })
        .await?;
    let (tenant, ..) = &given;
    match shared.run(tenant, |db, tenant| Box::pin(next_tree(db, tenant))).await? {
        Some(shard) => {
            let given = (tenant.clone(), shard, limit);
            shared
                .write(Effect::Synced, Lock::Tree(tenant, shard), &given, |db, given| {
                    Box::pin(erase_in(db, &given.0, given.1, given.2))
                })
                .await
        }
        None => {
            shared
                .write(Effect::Synced, Lock::Nothing, &given, |db, (tenant, _, limit)| {
                    Box::pin(erase_places(db, tenant, *limit))
                })
                .await
        }
    }
}

/// Deletes the records of erasures that are so old that no turn from before them can still be open.
pub(super) async fn forget_old(db: &Session) -> Result<()> {
    db.execute(&FORGET_OLD, &[]).await.map(drop)
}

/// Rejects the response of a turn that began before its tenant was erased.
pub(super) async fn check_unerased(
    db: &Session,
    tenant: &Tenant,
    response: Option<&NewResponse>,
) -> Result<()> {
    let Some(response) = response else { return Ok(()) };
    match db.row(&IS_ERASED, &[&tenant.as_str(), &response.created_at]).await? {
        Some(_) => Err(StoreError::Erased.into()),
        None => Ok(()),
    }
}

async fn note(db: &Session, tenant: &Tenant, now: i64) -> Result<()> {
    db.execute(&NOTE, &[&tenant.as_str(), &now]).await.map(drop)
}

/// A tree of forks that contains data of the tenant.
async fn next_tree(db: &Session, tenant: &Tenant) -> Result<Option<Shard>> {
    let row = db.row(&NEXT_TREE, &[&tenant.as_str()]).await?;
    Ok(row.map(|row| Shard(row.get::<_, i64>(0).cast_unsigned())))
}

/// Rows that name others are deleted first, so that a reader never finds incomplete data.
async fn erase_in(db: &Session, tenant: &Tenant, shard: Shard, limit: i64) -> Result<DataCounts> {
    let mut batch = Batch { db, tenant, shard, left: limit };
    let mut erased = DataCounts {
        ledgers: batch.delete(&LEDGERS).await?,
        conversations: batch.delete(&CONVERSATIONS).await?,
        responses: batch.delete(&RESPONSES).await?,
        pending_turns: batch.delete(&PENDING_TURNS).await?,
        ..DataCounts::default()
    };
    erased.others += batch.delete(&EMPTY_SEGMENTS).await?;
    erased.others += batch.delete(&LEASES).await?;
    erased.others += batch.delete(&JOBS).await?;
    erased.others += batch.delete(&EVENTS).await?;
    erased += batch.delete_items().await?;
    erased.others += batch.delete(&THREADS).await?;
    erased.others += batch.delete(&NOTICES).await?;
    Ok(erased)
}

/// The deletions of one transaction.
struct Batch<'a> {
    db: &'a Session,
    tenant: &'a Tenant,
    shard: Shard,
    /// The number of rows that may still be deleted.
    left: i64,
}

impl Batch<'_> {
    async fn delete(&mut self, sql: &super::statements::Sql) -> Result<u64> {
        let given = (self.tenant.as_str(), keys::shard(self.shard));
        let rows = self.db.execute(sql, &[&given.0, &given.1, &self.left]).await?;
        self.left = self.left.saturating_sub_unsigned(rows);
        Ok(rows)
    }

    /// Deletes whole segments, and the last items of one.
    async fn delete_items(&mut self) -> Result<DataCounts> {
        let given = (self.tenant.as_str(), keys::shard(self.shard));
        let mut erased = DataCounts::default();
        for row in self.db.rows(&SEGMENTS, &[&given.0, &given.1, &self.left]).await? {
            let left = self.left.unsigned_abs();
            if left == 0 {
                break;
            }
            let thread = thread_from_column(row.get(7));
            let key = ThreadKey::new(self.tenant, self.shard, thread);
            let segment = Segment::read(&row);
            let count = segment.held.min(left);
            let live = delete_last(self.db, key, &segment, count).await?;
            erased.items += live;
            erased.deleted_items += count - live;
            self.left = self.left.saturating_sub_unsigned(count);
        }
        Ok(erased)
    }
}

/// Deletes the last items of a segment. Returns the number of live ones among them.
async fn delete_last(
    db: &Session,
    key: ThreadKey<'_>,
    segment: &Segment,
    count: u64,
) -> Result<u64> {
    let from = segment.end() - count;
    // The items of a damaged segment are deleted, too. Their places are left for `PLACES`.
    let items: Vec<(Seq, HeldItem)> = segment.items().map(Iterator::collect).unwrap_or_default();
    let (kept, deleted): (Vec<_>, Vec<_>) = items.into_iter().partition(|(seq, _)| *seq < from);
    item_ids::remove(db, key, deleted.iter().map(|(_, item)| item), from).await?;
    if count == segment.held {
        segments::delete(db, key, segment).await?;
        return Ok(segment.live.items);
    }
    let kept: Vec<HeldItem> = kept.into_iter().map(|(_, item)| item).collect();
    segments::rewrite(db, key, segment, &kept).await?;
    Ok(segment.live.items - Usage::from_items(&kept).items)
}

/// Deletes leftovers that belong to no tree: locations of missing items, and counts.
async fn erase_places(db: &Session, tenant: &Tenant, limit: i64) -> Result<DataCounts> {
    let mut others = db.execute(&PLACES, &[&tenant.as_str(), &limit]).await?;
    if others == 0 {
        others += u64::from(data_counts::forget_usage(db, tenant).await?);
    }
    Ok(DataCounts { others, ..DataCounts::default() })
}

/// Reads a count, which is never negative.
pub(super) fn read_count(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column).cast_unsigned()
}

statements! {
    NOTE = "
        INSERT INTO erasures (tenant, began_before) VALUES ($1, $2)
        ON CONFLICT (tenant) DO UPDATE
        SET began_before = greatest(erasures.began_before, excluded.began_before),
            noted_at = excluded.noted_at";
    IS_ERASED = "SELECT FROM erasures WHERE tenant = $1 AND began_before > $2";
    FORGET_OLD = "DELETE FROM erasures WHERE noted_at < now() - interval '1 day'";
    NEXT_TREE = "
        (SELECT shard FROM ledgers WHERE tenant = $1 LIMIT 1)
        UNION ALL (SELECT shard FROM conversations WHERE tenant = $1 LIMIT 1)
        UNION ALL (SELECT shard FROM pending_turns WHERE tenant = $1 LIMIT 1)
        UNION ALL (SELECT shard FROM segments WHERE tenant = $1 LIMIT 1)
        UNION ALL (SELECT shard FROM leases WHERE tenant = $1 LIMIT 1)
        UNION ALL (SELECT shard FROM jobs WHERE tenant = $1 LIMIT 1)
        UNION ALL (SELECT shard FROM events WHERE tenant = $1 LIMIT 1)
        UNION ALL (SELECT shard FROM threads WHERE tenant = $1 LIMIT 1)
        UNION ALL (SELECT shard FROM notices WHERE tenant = $1 LIMIT 1)
        LIMIT 1";
    LEDGERS = "
        DELETE FROM ledgers
        WHERE tenant = $1 AND shard = $2 AND kept IN (
            SELECT kept FROM ledgers WHERE tenant = $1 AND shard = $2 LIMIT $3
        )";
    CONVERSATIONS = "
        DELETE FROM conversations
        WHERE tenant = $1 AND shard = $2 AND id IN (
            SELECT id FROM conversations WHERE tenant = $1 AND shard = $2 LIMIT $3
        )";
    RESPONSES = "
        UPDATE segments
        SET response = 0, request = 0, id = NULL, conversation = NULL, created_at = NULL,
            output_from = NULL, end_at = NULL, digest = NULL, copy_until = NULL,
            envelope = NULL, report = NULL, copy = NULL
        WHERE tenant = $1 AND shard = $2 AND (thread, first, number) IN (
            SELECT thread, first, number FROM segments
            WHERE tenant = $1 AND shard = $2 AND id IS NOT NULL LIMIT $3
        )";
    PENDING_TURNS = "
        DELETE FROM pending_turns
        WHERE tenant = $1 AND shard = $2 AND id IN (
            SELECT id FROM pending_turns WHERE tenant = $1 AND shard = $2 LIMIT $3
        )";
    EMPTY_SEGMENTS = "
        DELETE FROM segments
        WHERE tenant = $1 AND shard = $2 AND (thread, first, number) IN (
            SELECT thread, first, number FROM segments
            WHERE tenant = $1 AND shard = $2 AND held = 0 AND id IS NULL LIMIT $3
        )";
    LEASES = "
        DELETE FROM leases
        WHERE tenant = $1 AND shard = $2 AND (conversation, place) IN (
            SELECT conversation, place FROM leases WHERE tenant = $1 AND shard = $2 LIMIT $3
        )";
    JOBS = "
        DELETE FROM jobs
        WHERE tenant = $1 AND shard = $2 AND id IN (
            SELECT id FROM jobs WHERE tenant = $1 AND shard = $2 LIMIT $3
        )";
    EVENTS = "
        DELETE FROM events
        WHERE tenant = $1 AND shard = $2 AND (response, sequence_number) IN (
            SELECT response, sequence_number FROM events
            WHERE tenant = $1 AND shard = $2 LIMIT $3
        )";
    SEGMENTS = "
        SELECT first, number, held, live, bytes, false, items, thread FROM segments
        WHERE tenant = $1 AND shard = $2 AND held > 0 LIMIT least($3::bigint, 64)";
    THREADS = "
        DELETE FROM threads
        WHERE tenant = $1 AND shard = $2 AND thread IN (
            SELECT thread FROM threads WHERE tenant = $1 AND shard = $2 LIMIT $3
        )";
    NOTICES = "
        DELETE FROM notices
        WHERE tenant = $1 AND shard = $2 AND (response, id, endpoint) IN (
            SELECT response, id, endpoint FROM notices WHERE tenant = $1 AND shard = $2 LIMIT $3
        )";
    /// An item and its place are written and deleted together, so this matches the place of no
    /// readable item.
    PLACES = "
        DELETE FROM item_ids
        WHERE tenant = $1 AND (id, shard, thread, tomb) IN (
            SELECT id, shard, thread, tomb FROM item_ids AS places
            WHERE tenant = $1 AND NOT EXISTS (
                SELECT FROM segments
                WHERE segments.tenant = $1 AND segments.shard = places.shard
                  AND segments.thread = places.thread AND first <= seq AND first + held > seq
            )
            LIMIT $2
        )";
}
