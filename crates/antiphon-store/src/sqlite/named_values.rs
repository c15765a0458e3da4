//! Named values, each stored once for the whole store.

use rusqlite::{Connection, OptionalExtension, params};

use crate::error::StoreError;

/// Returns the value stored under `name`. If there is none, stores and returns `candidate`.
pub(super) fn keep(db: &Connection, name: &str, candidate: &[u8]) -> Result<Vec<u8>, StoreError> {
    const KEEP: &str = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    const READ: &str = "SELECT value FROM meta WHERE name = ?1";
    db.prepare_cached(KEEP)?.execute(params![name, candidate])?;
    Ok(db.prepare_cached(READ)?.query_row([name], |row| row.get(0))?)
}

/// The value stored under `name`.
pub(super) fn find(db: &Connection, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    const SQL: &str = "SELECT value FROM meta WHERE name = ?1";
    Ok(db.prepare_cached(SQL)?.query_row([name], |row| row.get(0)).optional()?)
}

/// Replaces `old` by `new`. Returns whether `old` was the stored value.
pub(super) fn replace(
    db: &Connection,
    name: &str,
    old: &[u8],
    new: &[u8],
) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE meta SET value = ?3 WHERE name = ?1 AND value = ?2";
    Ok(db.prepare_cached(SQL)?.execute(params![name, old, new])? == 1)
}

/// Writes about as much as a small turn, to a row that holds no data.
pub(super) fn check_writable(db: &Connection) -> Result<(), StoreError> {
    const SQL: &str = "
        INSERT INTO meta (name, value) VALUES ('write check', zeroblob(65536))
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    db.prepare_cached(SQL)?.execute([])?;
    Ok(())
}
