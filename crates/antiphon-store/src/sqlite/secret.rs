//! The key of the store's hashes.

use rusqlite::{Connection, params};

use crate::error::StoreError;

/// The key that is kept, or `candidate`, kept from now on.
pub(super) fn keep(db: &Connection, candidate: [u8; 32]) -> Result<[u8; 32], StoreError> {
    const KEEP: &str =
        "INSERT INTO meta (name, value) VALUES ('secret', ?1) ON CONFLICT DO NOTHING";
    const READ: &str = "SELECT value FROM meta WHERE name = 'secret'";
    db.prepare_cached(KEEP)?.execute(params![candidate])?;
    Ok(db.prepare_cached(READ)?.query_row([], |row| row.get(0))?)
}
