//! Opens and configures connections to a database.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::{schema, vacuum};
use crate::error::StoreError;

/// The time that a statement waits for a lock of another process.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// In bytes. SQLite stores up to a quarter of a page of an item in the B-tree of its table, and the
/// rest in overflow pages. Most items are shorter than a quarter of this size.
const PAGE_SIZE: i64 = 8192;

/// The number of prepared statements cached per connection: more than this crate has.
const STATEMENTS: usize = 64;

/// Opens a writing connection to the file at `path`, and creates the file if there is none.
pub(super) fn open_writing(path: &Path) -> Result<Connection, StoreError> {
    let db = Connection::open(path)?;
    db.busy_timeout(LOCK_WAIT)?;
    schema::check_owner(&db)?;
    schema::check_known(&db)?;
    set_page_size(&db)?;
    vacuum::enable(&db)?;
    db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    // On macOS, a plain sync does not flush the drive's cache. This setting requests a full one.
    db.pragma_update(None, "fullfsync", true)?;
    prepare_for_writing(db)
}

/// Opens a private in-memory database, which is deleted when the connection closes.
pub(super) fn open_in_memory() -> Result<Connection, StoreError> {
    let db = Connection::open_in_memory()?;
    set_page_size(&db)?;
    vacuum::enable(&db)?;
    prepare_for_writing(db)
}

/// Opens a reading connection to the file at `path`.
pub(super) fn open_reading(path: &Path) -> Result<Connection, StoreError> {
    let db = Connection::open(path)?;
    db.busy_timeout(LOCK_WAIT)?;
    db.pragma_update(None, "query_only", true)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(db)
}

/// Opens a reading connection to the existing file at `path`, even if another process has it open.
pub(super) fn open_existing(path: &Path) -> Result<Connection, StoreError> {
    // Not read-only: if no process has the file open, the log of a former one must be moved first.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(LOCK_WAIT)?;
    db.pragma_update(None, "query_only", true)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(db)
}

/// Rewrites the database at `path`, so that no deleted data is left in it. The caller holds the
/// lock of the file, and no other connection is open.
pub(super) fn rewrite(path: &Path) -> Result<(), StoreError> {
    let db = open_writing(path)?;
    db.execute_batch("VACUUM")?;
    match empty_log(&db, LOCK_WAIT)? {
        true => Ok(()),
        false => Err(StoreError::Unavailable(
            "the file was rewritten, but another program reads from it: deleted data stays in its \
             write-ahead log until that program ends"
                .into(),
        )),
    }
}

/// Sets the page size of a database that is still empty.
fn set_page_size(db: &Connection) -> Result<(), StoreError> {
    db.pragma_update(None, "page_size", PAGE_SIZE)?;
    Ok(())
}

fn prepare_for_writing(db: Connection) -> Result<Connection, StoreError> {
    // Deleted data is overwritten with zeros. If SQLite moved an entry to another page before, a
    // copy may remain in the unused part of the old page. Only `VACUUM` wipes those parts.
    db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(db)
}

/// Moves the write-ahead log into the database and truncates it. Returns whether all of it was
/// moved. Waits up to `wait` for readers that still need the log.
pub(super) fn empty_log(db: &Connection, wait: Duration) -> Result<bool, StoreError> {
    db.busy_timeout(wait)?;
    let busy = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    db.busy_timeout(LOCK_WAIT)?;
    Ok(!busy?)
}
