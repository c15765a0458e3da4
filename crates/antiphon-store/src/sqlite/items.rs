//! Appends items, reads them by range or id, and erases them.

use std::ops::Range;

use antiphon::{HeldItem, ItemId};
use rusqlite::{Connection, OptionalExtension, Params, ffi, params};

use super::keys::{self, ThreadKey, position, seq_from_column};
use super::row::{self, item_columns};
use crate::error::StoreError;
use crate::ids::Tenant;
use crate::records::{Cursor, ItemPage, Order, PageRequest, Seq};

type Result<T> = std::result::Result<T, StoreError>;

/// Appends `items` from position `start` on. Returns the position after the last.
pub(super) fn append(
    db: &Connection,
    key: ThreadKey<'_>,
    start: Seq,
    items: &[HeldItem],
) -> Result<Seq> {
    let mut end = start;
    for item in items {
        insert(db, key, end, item)?;
        end = end.saturating_add(1);
    }
    Ok(end)
}

fn insert(db: &Connection, key: ThreadKey<'_>, seq: Seq, item: &HeldItem) -> Result<()> {
    const SQL: &str = concat!(
        "INSERT INTO items (tenant, shard, thread, seq, ",
        item_columns!(),
        ", copy)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 1 + coalesce((
            SELECT max(copy) FROM items WHERE tenant = ?1 AND item_id = ?5 AND body IS NOT NULL
        ), (
            SELECT max(copy) FROM items WHERE tenant = ?1 AND item_id = ?5 AND body IS NULL
        ), 0))"
    );
    let mut statement = db.prepare_cached(SQL)?;
    statement.raw_bind_parameter(1, key.tenant())?;
    statement.raw_bind_parameter(2, key.shard())?;
    statement.raw_bind_parameter(3, key.thread())?;
    statement.raw_bind_parameter(4, position(seq))?;
    row::bind(&mut statement, 5, item)?;
    match statement.raw_execute() {
        Err(error) if is_held_already(&error) => Err(StoreError::DuplicateItem(item.id.clone())),
        outcome => outcome.map(drop).map_err(StoreError::from),
    }
}

/// The only unique index of the table is that of live items. A conflict with the primary key has a
/// code of its own.
fn is_held_already(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_CONSTRAINT_UNIQUE)
}

/// All items before `cursor`, tombstones included. Sequence numbers increase along a lineage, so
/// their order is that of the transcript.
pub(super) fn transcript(
    db: &Connection,
    tenant: &Tenant,
    cursor: Cursor,
) -> Result<Vec<HeldItem>> {
    let key = ThreadKey::from_cursor(tenant, cursor);
    let mut found = db
        .prepare_cached(TRANSCRIPT)?
        .query_map(
            params![key.tenant(), key.shard(), key.thread(), position(cursor.end)],
            |columns| Ok((columns.get::<_, i64>(row::COLUMNS)?, row::read(columns)?)),
        )?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    // The rows come in the order of the join's loops. If SQLite ever chooses another order, this
    // sort restores it. On sorted rows it is a single pass.
    found.sort_by_key(|(seq, _)| *seq);
    Ok(found.into_iter().map(|(_, item)| item).collect())
}

const TRANSCRIPT: &str = concat!(
    "WITH line (id, upto) AS (
        SELECT entry.value ->> 0, entry.value ->> 1
        FROM threads CROSS JOIN json_each(threads.lineage) AS entry
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3
        UNION ALL
        SELECT ?3, ?4
    )
    SELECT ",
    item_columns!(),
    ", seq
    FROM line CROSS JOIN items
    WHERE tenant = ?1 AND shard = ?2 AND thread = line.id AND seq < min(line.upto, ?4)"
);

/// The live items of a range, oldest first.
pub(super) fn range(
    db: &Connection,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
    limit: usize,
) -> Result<Vec<HeldItem>> {
    read_range(db, ASCENDING.items, key, range, limit)
}

/// The live items at the start or end of a range, as many as fit on the page.
///
/// The sizes are read first: a row that does not fit would otherwise be loaded in full.
pub(super) fn page(
    db: &Connection,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
    page: &PageRequest,
) -> Result<ItemPage> {
    let queries = match page.order {
        Order::Ascending => ASCENDING,
        Order::Descending => DESCENDING,
    };
    let one_more = page.limit.saturating_add(1);
    let sizes: Vec<i64> = db
        .prepare_cached(queries.sizes)?
        .query_map(range_parameters(key, range, one_more), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let as_usize = |size: &i64| usize::try_from(*size).unwrap_or(usize::MAX);
    let count = page.count_fitting(sizes.iter().map(as_usize));
    let items = read_range(db, queries.items, key, range, count)?;
    Ok(ItemPage { items, has_more: count < sizes.len() })
}

fn read_range(
    db: &Connection,
    sql: &str,
    key: ThreadKey<'_>,
    range: &Range<Seq>,
    limit: usize,
) -> Result<Vec<HeldItem>> {
    let items = db
        .prepare_cached(sql)?
        .query_map(range_parameters(key, range, limit), row::read)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(items)
}

/// The queries of a range in one order.
struct RangeQueries {
    items: &'static str,
    sizes: &'static str,
}

macro_rules! select_range {
    ($columns:expr, $order:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM items
            WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND seq >= ?4 AND seq < ?5
              AND body IS NOT NULL
            ORDER BY seq ",
            $order,
            " LIMIT ?6"
        )
    };
}

const ASCENDING: RangeQueries = RangeQueries {
    items: select_range!(item_columns!(), "ASC"),
    sizes: select_range!("length(body)", "ASC"),
};

const DESCENDING: RangeQueries = RangeQueries {
    items: select_range!(item_columns!(), "DESC"),
    sizes: select_range!("length(body)", "DESC"),
};

fn range_parameters(key: ThreadKey<'_>, range: &Range<Seq>, limit: usize) -> impl Params {
    (
        key.tenant(),
        key.shard(),
        key.thread(),
        position(range.start),
        position(range.end),
        keys::limit(limit),
    )
}

/// The position of the live item with this id in a thread.
pub(super) fn place(db: &Connection, key: ThreadKey<'_>, id: &ItemId) -> Result<Option<Seq>> {
    const SQL: &str = "
        SELECT seq FROM items
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND item_id = ?4 AND body IS NOT NULL";
    let parameters = params![key.tenant(), key.shard(), key.thread(), id.as_str()];
    let seq = db.prepare_cached(SQL)?.query_row(parameters, |row| row.get(0)).optional()?;
    Ok(seq.map(seq_from_column))
}

/// The live item with this id in a thread.
pub(super) fn find(db: &Connection, key: ThreadKey<'_>, id: &ItemId) -> Result<Option<HeldItem>> {
    const SQL: &str = concat!(
        "SELECT ",
        item_columns!(),
        " FROM items
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND item_id = ?4 AND body IS NOT NULL"
    );
    let parameters = params![key.tenant(), key.shard(), key.thread(), id.as_str()];
    select_one(db, SQL, parameters)
}

/// Whether the tenant has a live copy of the item, and a model generated it.
pub(super) fn is_made(db: &Connection, tenant: &Tenant, id: &ItemId) -> Result<bool> {
    const SQL: &str = "
        SELECT 1 FROM items
        WHERE tenant = ?1 AND item_id = ?2 AND body IS NOT NULL AND origin IS NOT NULL";
    Ok(db.prepare_cached(SQL)?.exists(params![tenant.as_str(), id.as_str()])?)
}

/// The newest live copy of this item, in any thread of the tenant, whose bytes are in this store,
/// or the newest tombstone if no copy is live. `None` if the item is live only at a provider.
pub(super) fn newest(db: &Connection, tenant: &Tenant, id: &ItemId) -> Result<Option<HeldItem>> {
    const LIVE: &str = concat!(
        "SELECT ",
        item_columns!(),
        " FROM items
        WHERE tenant = ?1 AND item_id = ?2 AND body IS NOT NULL AND length(body) > 0
        ORDER BY copy DESC LIMIT 1"
    );
    const ERASED: &str = concat!(
        "SELECT ",
        item_columns!(),
        " FROM items
        WHERE tenant = ?1 AND item_id = ?2 AND body IS NULL AND NOT EXISTS (
            SELECT 1 FROM items WHERE tenant = ?1 AND item_id = ?2 AND body IS NOT NULL
        )
        ORDER BY copy DESC LIMIT 1"
    );
    let live = select_one(db, LIVE, params![tenant.as_str(), id.as_str()])?;
    match live {
        None => select_one(db, ERASED, params![tenant.as_str(), id.as_str()]),
        live => Ok(live),
    }
}

fn select_one(db: &Connection, sql: &str, parameters: impl Params) -> Result<Option<HeldItem>> {
    let item = db.prepare_cached(sql)?.query_row(parameters, row::read).optional()?;
    Ok(item)
}

/// Erases the bytes of a live item and leaves a tombstone. Returns whether the item existed.
pub(super) fn erase(db: &Connection, key: ThreadKey<'_>, id: &ItemId) -> Result<bool> {
    const SQL: &str = "
        UPDATE items SET body = NULL
        WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND item_id = ?4 AND body IS NOT NULL";
    let parameters = params![key.tenant(), key.shard(), key.thread(), id.as_str()];
    Ok(db.prepare_cached(SQL)?.execute(parameters)? == 1)
}

/// Deletes a thread's items from position `from` on, tombstones included.
pub(super) fn cut(db: &Connection, key: ThreadKey<'_>, from: Seq) -> Result<()> {
    const SQL: &str =
        "DELETE FROM items WHERE tenant = ?1 AND shard = ?2 AND thread = ?3 AND seq >= ?4";
    let parameters = params![key.tenant(), key.shard(), key.thread(), position(from)];
    db.prepare_cached(SQL)?.execute(parameters)?;
    Ok(())
}
