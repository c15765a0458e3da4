//! Files of Windows.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::path::Path;
use std::sync::Mutex;

use winsafe::guard::CloseHandleGuard;
use winsafe::{GetDiskFreeSpaceEx, HFILE, co};

use super::FileId;

/// Leaves the options as they are. Windows has no modes: a new file has the permissions that its
/// directory passes on.
pub(crate) fn set_private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Leaves the permissions of the directory (see [`set_private`]).
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn make_private(_: &File) -> io::Result<()> {
    Ok(())
}

/// Always `None`: a file of Windows has no mode.
pub(crate) fn shared_mode(_: &Path) -> Option<u32> {
    None
}

/// The identity of the file at `path`.
pub(crate) fn file_id(path: &Path) -> io::Result<FileId> {
    let information = open(path, co::GENERIC::READ)?.GetFileInformationByHandle();
    let information = information.map_err(failure)?;
    Ok((information.dwVolumeSerialNumber.into(), information.nFileIndex()))
}

/// An exclusive lock of a database file, which its other names share.
pub(crate) struct DatabaseLock {
    id: FileId,
    links: u64,
    /// The handle that owns the lock. `HFILE` is not `Sync`, and nobody uses it again.
    _database: Mutex<CloseHandleGuard<HFILE>>,
}

impl DatabaseLock {
    /// Locks the file at `path`, which `database` has created or opened. Fails with the kind
    /// `WouldBlock` if the lock is taken.
    pub(crate) fn acquire(database: File, path: &Path) -> io::Result<Self> {
        let handle = open(path, co::GENERIC::READ | co::GENERIC::WRITE)?;
        drop(database);
        let byte = super::LOCKED_BYTE.cast_unsigned();
        let lock = handle.LockFile(byte, 1).map_err(|error| match error {
            co::ERROR::LOCK_VIOLATION => io::ErrorKind::WouldBlock.into(),
            error => failure(error),
        })?;
        // The lock ends when its handle is closed.
        mem::forget(lock);
        let information = handle.GetFileInformationByHandle().map_err(failure)?;
        Ok(Self {
            id: (information.dwVolumeSerialNumber.into(), information.nFileIndex()),
            links: information.nNumberOfLinks.into(),
            _database: Mutex::new(handle),
        })
    }

    /// The identity of the file.
    pub(crate) fn file_id(&self) -> FileId {
        self.id
    }

    /// The number of the file's names when it was locked.
    pub(crate) fn links(&self) -> u64 {
        self.links
    }
}

impl fmt::Debug for DatabaseLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseLock").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Opens an existing file, and lets others open it at the same time, as SQLite does.
fn open(path: &Path, access: co::GENERIC) -> io::Result<CloseHandleGuard<HFILE>> {
    let share = co::FILE_SHARE::READ | co::FILE_SHARE::WRITE;
    let existing = co::DISPOSITION::OPEN_EXISTING;
    let attributes = co::FILE_ATTRIBUTE::NORMAL;
    let name = text(path)?;
    let opened =
        HFILE::CreateFile(name, access, Some(share), None, existing, attributes, None, None, None);
    opened.map(|(handle, _)| handle).map_err(failure)
}

/// Allocates disk space for a new file: NTFS allocates the clusters of a file that is extended.
pub(crate) fn allocate(file: &File, size: u64) -> io::Result<()> {
    file.set_len(size)
}

/// The bytes that this process may still write to the volume of a directory.
pub(crate) fn free_space(directory: &Path) -> io::Result<u64> {
    let mut free = 0;
    // The name of a directory on another computer needs the last backslash.
    let directory = directory.join("");
    GetDiskFreeSpaceEx(Some(text(&directory)?), Some(&mut free), None, None).map_err(failure)?;
    Ok(free)
}

/// SQLite takes paths in Unicode only, too.
fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| io::Error::other("the path is not valid Unicode"))
}

fn failure(error: co::ERROR) -> io::Error {
    io::Error::from_raw_os_error(error.raw().cast_signed())
}
