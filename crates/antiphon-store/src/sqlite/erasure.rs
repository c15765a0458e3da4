//! Erases all data of a tenant.

use antiphon::HeldItem;
use rusqlite::{Connection, params};

use super::keys::{ThreadKey, position, thread_from_column};
use super::responses;
use super::segments::{self, Entry, entry_columns};
use crate::error::StoreError;
use crate::ids::{Shard, Tenant, ThreadId};
use crate::snapshot::DataCounts;
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// Deletes at most `limit` rows of a tenant and returns their counts. Rows that name others are
/// deleted first, so that a reader never finds incomplete data.
pub(super) fn erase(db: &Connection, tenant: &Tenant, limit: usize) -> Result<DataCounts> {
    let mut left = limit as u64;
    let ledgers = delete(db, tenant, &mut left, LEDGERS)?;
    let conversations = delete(db, tenant, &mut left, CONVERSATIONS)?;
    let responses = remove_responses(db, tenant, &mut left)?;
    let pending_turns = delete(db, tenant, &mut left, PENDING_TURNS)?;
    let item_ids = delete(db, tenant, &mut left, ITEM_IDS)?;
    let (items, deleted_items) = delete_items(db, tenant, &mut left)?;
    let mut others = item_ids;
    for sql in [JOBS, EVENTS, NOTICES, THREADS, USAGE] {
        others += delete(db, tenant, &mut left, sql)?;
    }
    Ok(DataCounts {
        conversations,
        responses,
        pending_turns,
        ledgers,
        items,
        deleted_items,
        others,
    })
}

fn delete(db: &Connection, tenant: &Tenant, left: &mut u64, sql: &str) -> Result<u64> {
    let given = params![tenant.as_str(), position(*left)];
    let rows = db.prepare_cached(sql)?.execute(given)? as u64;
    *left = left.saturating_sub(rows);
    Ok(rows)
}

fn remove_responses(db: &Connection, tenant: &Tenant, left: &mut u64) -> Result<u64> {
    let found = entries(db, tenant, RESPONSES, *left)?;
    for (shard, thread, entry) in &found {
        responses::remove(db, ThreadKey::new(tenant, *shard, *thread), entry)?;
    }
    *left = left.saturating_sub(found.len() as u64);
    Ok(found.len() as u64)
}

/// Deletes whole segments, and the last items of one. Returns the number of live items and of
/// tombstones.
fn delete_items(db: &Connection, tenant: &Tenant, left: &mut u64) -> Result<(u64, u64)> {
    let (mut live, mut erased) = (0, 0);
    for (shard, thread, entry) in entries(db, tenant, SEGMENTS, *left)? {
        if *left == 0 {
            break;
        }
        let key = ThreadKey::new(tenant, shard, thread);
        let count = entry.held.min(*left);
        let removed = match count == entry.held {
            true => {
                segments::delete(db, key, &entry)?;
                entry.live.items
            }
            false => shorten(db, key, &entry, entry.held - count)?,
        };
        (live, erased) = (live + removed, erased + count - removed);
        *left -= count;
    }
    Ok((live, erased))
}

/// Deletes the items of a segment but the first `rest`. Returns the number of live ones.
fn shorten(db: &Connection, key: ThreadKey<'_>, entry: &Entry, rest: u64) -> Result<u64> {
    let rest = usize::try_from(rest).unwrap_or(usize::MAX);
    let items: Vec<HeldItem> = entry.items(db)?.map(|(_, item)| item).collect();
    let (kept, deleted) = items.split_at(rest.min(items.len()));
    segments::rewrite(db, key, entry, kept)?;
    Ok(Usage::from_items(deleted).items)
}

fn entries(
    db: &Connection,
    tenant: &Tenant,
    sql: &str,
    limit: u64,
) -> Result<Vec<(Shard, ThreadId, Entry)>> {
    let entries = db
        .prepare_cached(sql)?
        .query_map(params![tenant.as_str(), position(limit)], |row| {
            let shard = Shard(row.get::<_, i64>(5)?.cast_unsigned());
            Ok((shard, thread_from_column(row.get(6)?), Entry::read(row)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(entries)
}

const LEDGERS: &str = "
    DELETE FROM ledgers
    WHERE tenant = ?1 AND provider_id IN (
        SELECT provider_id FROM ledgers WHERE tenant = ?1 LIMIT ?2
    )";
const CONVERSATIONS: &str = "
    DELETE FROM conversations
    WHERE rowid IN (SELECT rowid FROM conversations WHERE tenant = ?1 LIMIT ?2)";
const RESPONSES: &str = concat!(
    "SELECT ",
    entry_columns!(),
    ", shard, thread FROM threads WHERE tenant = ?1 AND response IS NOT NULL LIMIT ?2"
);
const PENDING_TURNS: &str = "
    DELETE FROM pending_turns
    WHERE place IN (SELECT place FROM pending_turns WHERE tenant = ?1 LIMIT ?2)";
const ITEM_IDS: &str = "
    DELETE FROM item_ids
    WHERE tenant = ?1 AND (id, shard, thread, seq) IN (
        SELECT id, shard, thread, seq FROM item_ids WHERE tenant = ?1 LIMIT ?2
    )";
const SEGMENTS: &str = concat!(
    "SELECT ",
    entry_columns!(),
    ", shard, thread FROM threads WHERE tenant = ?1 AND held > 0 LIMIT ?2"
);
const JOBS: &str = "
    DELETE FROM jobs WHERE ordinal IN (SELECT ordinal FROM jobs WHERE tenant = ?1 LIMIT ?2)";
const EVENTS: &str = "
    DELETE FROM events
    WHERE tenant = ?1 AND (shard, response, sequence_number) IN (
        SELECT shard, response, sequence_number FROM events WHERE tenant = ?1 LIMIT ?2
    )";
const NOTICES: &str = "
    DELETE FROM notices
    WHERE tenant = ?1 AND (shard, response, id, endpoint) IN (
        SELECT shard, response, id, endpoint FROM notices WHERE tenant = ?1 LIMIT ?2
    )";
/// The triggers need this row until the last item is deleted, and delete it with that item.
const USAGE: &str = "
    DELETE FROM tenant_usage
    WHERE tenant = ?1 AND ?2 > 0
      AND NOT EXISTS (SELECT 1 FROM threads WHERE tenant = ?1 AND live > 0)";
const THREADS: &str = "
    DELETE FROM threads
    WHERE tenant = ?1 AND (shard, thread, first, segment) IN (
        SELECT shard, thread, first, segment FROM threads
        WHERE tenant = ?1 AND held = 0 AND response IS NULL LIMIT ?2
    )";
