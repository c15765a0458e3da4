//! One process at a time: a second one would take the first one's open turns for abandoned.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::path::Path;

use crate::error::StoreError;

/// Takes the lock of the database at `path`, which the operating system lets go with the process.
///
/// The lock is a file beside the database: SQLite's own locks would go with any other handle on the
/// database's file that this process closes. It stays behind, empty: to delete it would let two
/// processes hold two locks of one name.
pub(super) fn take(path: &Path) -> Result<File, StoreError> {
    let failed = |reason: &dyn Display| {
        StoreError::Unavailable(format!("{} cannot be opened: {reason}", path.display()))
    };
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = File::create(&name).map_err(|error| failed(&error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(failed(&"another process has it open")),
        Err(TryLockError::Error(error)) => Err(failed(&error)),
    }
}
