//! Converts an item to a row and back.

use antiphon::HeldItem;
use bytes::Bytes;
use rusqlite::{Result, Row, Statement};

use crate::item_columns::ItemColumns;
pub(super) use crate::item_columns::item_columns;

/// The number of item columns.
pub(super) const COLUMNS: usize = 9;

/// Binds the item's columns to the parameters from `first` on.
pub(super) fn bind(statement: &mut Statement<'_>, first: usize, item: &HeldItem) -> Result<()> {
    let columns = ItemColumns::from_item(item);
    statement.raw_bind_parameter(first, columns.item_id)?;
    statement.raw_bind_parameter(first + 1, columns.own_id)?;
    statement.raw_bind_parameter(first + 2, columns.kind)?;
    statement.raw_bind_parameter(first + 3, columns.call_id)?;
    statement.raw_bind_parameter(first + 4, columns.role)?;
    statement.raw_bind_parameter(first + 5, columns.flags)?;
    statement.raw_bind_parameter(first + 6, columns.fingerprint)?;
    statement.raw_bind_parameter(first + 7, columns.origin)?;
    statement.raw_bind_parameter(first + 8, columns.body)
}

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
