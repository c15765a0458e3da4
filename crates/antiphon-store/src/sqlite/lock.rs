//! Excludes a second process, which would take the open turns of the first for abandoned.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::platform::{self, DatabaseLock, FileId};
use crate::error::StoreError;

/// Exclusive use of a database file. The operating system releases it when the process ends.
///
/// On Linux and Windows, the lock is on the file itself: every name of the file (symbolic and hard
/// links too) leads to the same lock, and nobody can break the lock by deleting a lock file. On
/// other systems, the lock is on the file `PATH.lock` next to the resolved path. On every system,
/// that file is locked too, to exclude older releases, which know no other lock. The file stays
/// when the store is closed: if it were deleted, two processes could hold two locks with one name.
///
/// Drop this after the last connection to the database. Closing any handle of a file releases all
/// locks that SQLite holds on that file in this process.
#[derive(Debug)]
pub(super) struct FileLock {
    /// The path with all symbolic links resolved.
    path: PathBuf,
    database: DatabaseLock,
    /// The handle that owns the lock of `PATH.lock`.
    _lock_file: File,
}

/// The files that this process has locked.
static LOCKED: Mutex<BTreeSet<FileId>> = Mutex::new(BTreeSet::new());

impl FileLock {
    /// Locks the database at `path`. If there is no file, creates one that only its owner can
    /// access.
    pub(super) fn acquire(path: &Path) -> Result<Self, StoreError> {
        let refused =
            |reason: &dyn Display| StoreError::Unavailable(format!("{}: {reason}", path.display()));
        Self::try_acquire(path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => refused(&"another process has it open"),
            _ => refused(&error),
        })
    }

    /// The path with all symbolic links resolved.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// As [`FileLock::acquire`]. Fails with the kind `WouldBlock` if the lock is taken.
    fn try_acquire(path: &Path) -> io::Result<Self> {
        let mut locked = locked();
        // Looked up before the file is opened: on Unix, closing a handle would release the locks of
        // the store that already has this file open in this process.
        if platform::file_id(path).is_ok_and(|id| locked.contains(&id)) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let database = DatabaseLock::acquire(open_private(path)?, path)?;
        let path = fs::canonicalize(path)?;
        let lock_file = lock_beside(&path)?;
        warn_if_linked(&path, database.links());
        locked.insert(database.file_id());
        Ok(Self { path, database, _lock_file: lock_file })
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        locked().remove(&self.database.file_id());
    }
}

fn warn_if_linked(path: &Path, links: u64) {
    if links > 1 {
        tracing::warn!(
            file = %path.display(),
            links,
            "the database has several names (hard links), but SQLite finds the write-ahead log by \
             name; always open the same name, or commits in the log of a killed process are lost",
        );
    }
}

fn locked() -> MutexGuard<'static, BTreeSet<FileId>> {
    LOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a file for writing. Creates it for its owner only, regardless of the umask.
fn open_private(path: &Path) -> io::Result<File> {
    let is_new = !path.try_exists()?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = platform::set_private(&mut options).open(path)?;
    if is_new {
        platform::make_private(&file)?;
    }
    Ok(file)
}

/// Locks the file `PATH.lock`.
fn lock_beside(path: &Path) -> io::Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = open_private(Path::new(&name))?;
    file.try_lock()?;
    // An earlier release created it readable by all. It is empty, so a failure to change the mode
    // of another owner's file is harmless.
    let _ = platform::make_private(&file);
    Ok(file)
}
