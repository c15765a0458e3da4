//! Erases all data of a tenant.

use rusqlite::{Connection, params};

use crate::error::StoreError;
use crate::ids::Tenant;
use crate::keys;
use crate::snapshot::DataCounts;

/// Deletes at most `limit` rows of a tenant and returns their counts. Rows that name others are
/// deleted first, so that a reader never finds incomplete data.
pub(super) fn erase(
    db: &Connection,
    tenant: &Tenant,
    limit: usize,
) -> Result<DataCounts, StoreError> {
    let mut left = keys::limit(limit);
    let mut delete = |sql: &str| -> Result<u64, StoreError> {
        let rows = db.prepare_cached(sql)?.execute(params![tenant.as_str(), left])?;
        left = left.saturating_sub_unsigned(rows as u64);
        Ok(rows as u64)
    };
    Ok(DataCounts {
        ledgers: delete(LEDGERS)?,
        conversations: delete(CONVERSATIONS)?,
        responses: delete(RESPONSES)?,
        others: delete(OPENING_ITEMS)?,
        pending_turns: delete(OPENINGS)?,
        items: delete(ITEMS)?,
        deleted_items: delete(TOMBSTONES)?,
    } + DataCounts {
        others: delete(JOBS)?
            + delete(EVENTS)?
            + delete(NOTICES)?
            + delete(THREADS)?
            + delete(USAGE)?,
        ..DataCounts::default()
    })
}

const LEDGERS: &str = "
    DELETE FROM ledgers
    WHERE tenant = ?1 AND provider_id IN (
        SELECT provider_id FROM ledgers WHERE tenant = ?1 LIMIT ?2
    )";
const CONVERSATIONS: &str = "
    DELETE FROM conversations
    WHERE rowid IN (SELECT rowid FROM conversations WHERE tenant = ?1 LIMIT ?2)";
const RESPONSES: &str = "
    DELETE FROM responses
    WHERE rowid IN (SELECT rowid FROM responses WHERE tenant = ?1 LIMIT ?2)";
const OPENING_ITEMS: &str = "
    DELETE FROM opening_items
    WHERE (opening, position) IN (
        SELECT opening, position
        FROM openings CROSS JOIN opening_items ON opening = ordinal
        WHERE tenant = ?1 LIMIT ?2
    )";
const OPENINGS: &str = "
    DELETE FROM openings
    WHERE ordinal IN (
        SELECT ordinal FROM openings
        WHERE tenant = ?1 AND NOT EXISTS (SELECT 1 FROM opening_items WHERE opening = ordinal)
        LIMIT ?2
    )";
const ITEMS: &str = "
    DELETE FROM items
    WHERE tenant = ?1 AND (shard, thread, seq) IN (
        SELECT shard, thread, seq FROM items WHERE tenant = ?1 AND body IS NOT NULL LIMIT ?2
    )";
const TOMBSTONES: &str = "
    DELETE FROM items
    WHERE tenant = ?1 AND (shard, thread, seq) IN (
        SELECT shard, thread, seq FROM items WHERE tenant = ?1 AND body IS NULL LIMIT ?2
    )";
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
    WHERE tenant = ?1 AND ?2 > 0 AND NOT EXISTS (SELECT 1 FROM items WHERE tenant = ?1)";
const THREADS: &str = "
    DELETE FROM threads
    WHERE tenant = ?1 AND (shard, thread) IN (
        SELECT shard, thread FROM threads WHERE tenant = ?1 LIMIT ?2
    )";
