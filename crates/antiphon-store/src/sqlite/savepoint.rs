//! Savepoints: undo failed work without losing the transaction.

use rusqlite::Connection;

use crate::error::StoreError;

/// Runs `work`. If it fails, undoes its changes and returns its error as the inner result. The
/// outer error means that the transaction itself is lost: SQLite rolls it back on some failures,
/// such as a full disk.
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
