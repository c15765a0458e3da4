//! Work that is undone where it fails, within a transaction that goes on.

use rusqlite::Connection;

use crate::error::StoreError;

/// Runs `work`; where it fails, the database is as it was before. The outer error says that the
/// transaction itself is lost: SQLite gives it up on some failures, such as a full disk.
pub(super) fn attempt<T>(
    db: &Connection,
    work: impl FnOnce() -> Result<T, StoreError>,
) -> Result<Result<T, StoreError>, StoreError> {
    run(db, "SAVEPOINT attempt")?;
    let outcome = work();
    if let Err(error) = &outcome {
        if db.is_autocommit() {
            return Err(error.clone());
        }
        run(db, "ROLLBACK TO attempt")?;
    }
    run(db, "RELEASE attempt")?;
    Ok(outcome)
}

fn run(db: &Connection, command: &str) -> Result<(), StoreError> {
    db.prepare_cached(command)?.execute([])?;
    Ok(())
}
