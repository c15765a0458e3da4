//! Reads an item from a row of an earlier release.

use antiphon::HeldItem;
use bytes::Bytes;
use rusqlite::{Result, Row};

use crate::item_columns::ItemColumns;
pub(super) use crate::item_columns::item_columns;

/// The number of item columns.
pub(super) const COLUMNS: usize = 9;

/// Reads an item from a row's first columns.
pub(super) fn read(row: &Row<'_>) -> Result<HeldItem> {
    let columns = ItemColumns {
        item_id: row.get_ref(0)?.as_str()?,
        own_id: row.get_ref(1)?.as_str_or_null()?,
        kind: row.get_ref(2)?.as_str()?,
        call_id: row.get_ref(3)?.as_str_or_null()?,
        role: row.get_ref(4)?.as_str_or_null()?,
        flags: row.get(5)?,
        fingerprint: row.get(6)?,
        origin: row.get_ref(7)?.as_str_or_null()?,
        body: row.get_ref(8)?.as_bytes_or_null()?.map(Bytes::copy_from_slice),
    };
    Ok(columns.into_item())
}
