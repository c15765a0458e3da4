//! The places of item ids.

use antiphon::{HeldItem, ItemId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::keys::{ThreadKey, position, seq_from_column};
use super::segments;
use crate::error::StoreError;
use crate::ids::Tenant;
use crate::item_index::{LIVE, flags, id_column};
use crate::records::Seq;

type Result<T> = std::result::Result<T, StoreError>;

/// The place of an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its position in its thread.
    pub(super) seq: Seq,
    /// The number of its segment.
    pub(super) segment: i64,
}

impl Place {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { seq: seq_from_column(row.get(0)?), segment: row.get(1)? })
    }

    /// The item.
    pub(super) fn item(self, db: &Connection) -> Result<Option<HeldItem>> {
        const SQL: &str = "SELECT first FROM segments WHERE number = ?1";
        let first: Option<i64> =
            db.prepare_cached(SQL)?.query_row([self.segment], |row| row.get(0)).optional()?;
        let Some(first) = first else { return Ok(None) };
        let skipped = self.seq.saturating_sub(seq_from_column(first));
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        Ok(segments::load(db, self.segment)?.into_iter().nth(skipped))
    }
}

/// Whether the item is live, so that no other item of its thread may have its id.
pub(super) fn is_live(item: &HeldItem) -> bool {
    flags(item) & LIVE != 0
}

/// Records the place of a new item. Its thread has no live item with this id.
pub(super) fn insert(
    db: &Connection,
    key: ThreadKey<'_>,
    item: &HeldItem,
    place: Place,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO item_ids (tenant, id, shard, thread, seq, segment, copy, flags)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)";
    db.prepare_cached(SQL)?.execute(params![
        key.tenant(),
        id_column(&item.id),
        key.shard(),
        key.thread(),
        position(place.seq),
        place.segment,
        flags(item),
    ])?;
    Ok(())
}

/// The place of the live item with this id in a thread.
pub(super) fn find(db: &Connection, key: ThreadKey<'_>, id: &ItemId) -> Result<Option<Place>> {
    const SQL: &str = "
        SELECT seq, segment FROM item_ids
        WHERE tenant = ?1 AND id = ?2 AND shard = ?3 AND thread = ?4 AND flags & 1";
    let given = params![key.tenant(), id_column(id), key.shard(), key.thread()];
    Ok(db.prepare_cached(SQL)?.query_row(given, Place::read).optional()?)
}

/// Whether the tenant has a live copy of the item, and a model generated it.
pub(super) fn is_generated(db: &Connection, tenant: &Tenant, id: &ItemId) -> Result<bool> {
    const SQL: &str = "SELECT 1 FROM item_ids WHERE tenant = ?1 AND id = ?2 AND flags & 5 = 5";
    Ok(db.prepare_cached(SQL)?.exists(params![tenant.as_str(), id_column(id)])?)
}

/// The newest live copy of this item, in any thread of the tenant, whose bytes are in this store,
/// or the newest tombstone if no copy is live. `None` if the item is live only at a provider.
pub(super) fn newest(db: &Connection, tenant: &Tenant, id: &ItemId) -> Result<Option<Place>> {
    const SQL: &str = "
        SELECT seq, segment FROM item_ids
        WHERE tenant = ?1 AND id = ?2 AND (flags & 2 OR NOT flags & 1 AND NOT EXISTS (
            SELECT 1 FROM item_ids WHERE tenant = ?1 AND id = ?2 AND flags & 1
        ))
        ORDER BY copy DESC, seq DESC LIMIT 1";
    let given = params![tenant.as_str(), id_column(id)];
    Ok(db.prepare_cached(SQL)?.query_row(given, Place::read).optional()?)
}

/// Marks a live item as a tombstone.
pub(super) fn mark_erased(
    db: &Connection,
    key: ThreadKey<'_>,
    id: &ItemId,
    seq: Seq,
) -> Result<()> {
    const SQL: &str = "
        UPDATE item_ids SET flags = flags & ~3
        WHERE tenant = ?1 AND id = ?2 AND shard = ?3 AND thread = ?4 AND seq = ?5";
    let given = params![key.tenant(), id_column(id), key.shard(), key.thread(), position(seq)];
    db.prepare_cached(SQL)?.execute(given)?;
    Ok(())
}

/// Records that an item moved to another thread of its shard, at the same position.
pub(super) fn move_to(
    db: &Connection,
    key: ThreadKey<'_>,
    id: &ItemId,
    seq: Seq,
    to: ThreadKey<'_>,
) -> Result<()> {
    const SQL: &str = "
        UPDATE item_ids SET thread = ?6
        WHERE tenant = ?1 AND id = ?2 AND shard = ?3 AND thread = ?4 AND seq = ?5";
    let (owner, column, shard) = (key.tenant(), id_column(id), key.shard());
    let given = params![owner, column, shard, key.thread(), position(seq), to.thread()];
    db.prepare_cached(SQL)?.execute(given)?;
    Ok(())
}

/// Deletes the place of an item.
pub(super) fn remove(db: &Connection, key: ThreadKey<'_>, id: &ItemId, seq: Seq) -> Result<()> {
    const SQL: &str = "
        DELETE FROM item_ids
        WHERE tenant = ?1 AND id = ?2 AND shard = ?3 AND thread = ?4 AND seq = ?5";
    let given = params![key.tenant(), id_column(id), key.shard(), key.thread(), position(seq)];
    db.prepare_cached(SQL)?.execute(given)?;
    Ok(())
}
