//! How connections to a database are set up.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::{schema, vacuum};
use crate::error::StoreError;

/// How long a statement waits for a lock that another process holds.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// In bytes. An item lies in its thread's own pages as far as a quarter of one goes; what is longer
/// takes whole pages elsewhere. Most items are shorter than a quarter of this.
const PAGE_SIZE: i64 = 8192;

/// Statements kept prepared per connection: more than there are.
const STATEMENTS: usize = 64;

/// A connection that writes to the file at `path`, which is created where there is none.
pub(super) fn writing(path: &Path) -> Result<Connection, StoreError> {
    let db = Connection::open(path)?;
    db.busy_timeout(LOCK_WAIT)?;
    schema::check_owner(&db)?;
    schema::check_known(&db)?;
    set_page_size(&db)?;
    vacuum::enable(&db)?;
    db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    // Where a sync leaves the drive's own cache alone (macOS), ask for the one that does not.
    db.pragma_update(None, "fullfsync", true)?;
    prepared_to_write(db)
}

/// A connection to a database of its own, which is gone with it.
pub(super) fn in_memory() -> Result<Connection, StoreError> {
    let db = Connection::open_in_memory()?;
    set_page_size(&db)?;
    vacuum::enable(&db)?;
    prepared_to_write(db)
}

/// A connection that reads the file at `path`.
pub(super) fn reading(path: &Path) -> Result<Connection, StoreError> {
    let db = Connection::open(path)?;
    db.busy_timeout(LOCK_WAIT)?;
    db.pragma_update(None, "query_only", true)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(db)
}

/// A connection that reads the file at `path`, which has to be there, beside a process that has it
/// open.
pub(super) fn looking(path: &Path) -> Result<Connection, StoreError> {
    // Not read-only: where no process has it open, what one left in its log has to be moved first.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(LOCK_WAIT)?;
    db.pragma_update(None, "query_only", true)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(db)
}

/// Writes the database at `path` anew, so that nothing is left in it of what was deleted. To be done
/// by whoever has its lock, while no other connection is open.
pub(super) fn rewrite(path: &Path) -> Result<(), StoreError> {
    let db = writing(path)?;
    db.execute_batch("VACUUM")?;
    match empty_log(&db, LOCK_WAIT)? {
        true => Ok(()),
        false => Err(StoreError::Unavailable(
            "the file was written anew, but another program reads from it: what was deleted goes \
             when that ends"
                .into(),
        )),
    }
}

/// Says how large the pages of a database that is still empty shall be.
fn set_page_size(db: &Connection) -> Result<(), StoreError> {
    db.pragma_update(None, "page_size", PAGE_SIZE)?;
    Ok(())
}

fn prepared_to_write(db: Connection) -> Result<Connection, StoreError> {
    // What is deleted is overwritten with zeros. Where SQLite moved an entry to another page before,
    // a copy may be left in the unused part of the first; only `VACUUM` wipes those.
    db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(db)
}

/// Moves the write-ahead log into the database and empties it; says whether all of it could be
/// moved. Waits `patience` for readers that still need it.
pub(super) fn empty_log(db: &Connection, patience: Duration) -> Result<bool, StoreError> {
    db.busy_timeout(patience)?;
    let busy = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    db.busy_timeout(LOCK_WAIT)?;
    Ok(!busy?)
}
