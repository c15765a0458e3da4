//! Excludes a second process, which would take the open turns of the first for abandoned.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::permissions::{self, PRIVATE};
use crate::error::StoreError;

/// Exclusive use of a database file. The operating system releases it when the process ends.
///
/// On Linux, the lock is on the file itself: every name of the file (symbolic and hard links too)
/// leads to the same lock, and nobody can break the lock by deleting a lock file. On other systems,
/// the lock is on the file `PATH.lock` next to the resolved path. On Linux, that file is locked
/// too, to exclude older releases, which know no other lock. The file stays when the store is
/// closed: if it were deleted, two processes could hold two locks with one name.
///
/// Drop this after the last connection to the database. Closing any handle of a file releases all
/// locks that SQLite holds on that file in this process.
#[derive(Debug)]
pub(super) struct FileLock {
    /// The path with all symbolic links resolved.
    path: PathBuf,
    inode: Inode,
    /// The handles that own the locks.
    _handles: [File; 2],
}

/// The device and inode number of a file: equal for all of its names.
type Inode = (u64, u64);

/// The files that this process has locked.
static LOCKED: Mutex<BTreeSet<Inode>> = Mutex::new(BTreeSet::new());

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
        // Looked up without a handle: closing one would release the locks of the store that already
        // has this file open in this process.
        if fs::metadata(path).is_ok_and(|file| locked.contains(&inode_of(&file))) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let database = open_private(path)?;
        lock_bytes(&database)?;
        let metadata = database.metadata()?;
        let inode = inode_of(&metadata);
        let path = fs::canonicalize(path)?;
        let lock_file = lock_beside(&path)?;
        warn_if_linked(&path, metadata.nlink());
        locked.insert(inode);
        Ok(Self { path, inode, _handles: [database, lock_file] })
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        locked().remove(&self.inode);
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

fn locked() -> MutexGuard<'static, BTreeSet<Inode>> {
    LOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn inode_of(file: &fs::Metadata) -> Inode {
    (file.dev(), file.ino())
}

/// Opens a file for writing. Creates it for its owner only, regardless of the umask.
fn open_private(path: &Path) -> io::Result<File> {
    let is_new = !path.try_exists()?;
    let mut options = OpenOptions::new();
    let file =
        options.read(true).write(true).create(true).truncate(false).mode(PRIVATE).open(path)?;
    if is_new {
        permissions::make_private(&file)?;
    }
    Ok(file)
}

/// Locks a byte that SQLite uses in no database. SQLite's own locks, from byte 2^30 on, and the
/// handles that it opens and closes do not affect this lock.
#[cfg(target_os = "linux")]
fn lock_bytes(database: &File) -> io::Result<()> {
    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;

    const BYTE: libc::off_t = libc::off_t::MAX - 1;
    let short = |constant: i32| libc::c_short::try_from(constant).expect("it is one digit");
    let lock = libc::flock {
        l_type: short(libc::F_WRLCK),
        l_whence: short(libc::SEEK_SET),
        l_start: BYTE,
        l_len: 1,
        l_pid: 0,
    };
    match fcntl(database, FcntlArg::F_OFD_SETLK(&lock)) {
        Ok(_) => Ok(()),
        Err(Errno::EAGAIN | Errno::EACCES) => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Err(error.into()),
    }
}

/// On these systems, no lock of the standard library is independent of SQLite's.
#[cfg(not(target_os = "linux"))]
fn lock_bytes(_: &File) -> io::Result<()> {
    Ok(())
}

/// Locks the file `PATH.lock`.
fn lock_beside(path: &Path) -> io::Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = open_private(Path::new(&name))?;
    file.try_lock()?;
    // An earlier release created it readable by all. It is empty, so a failure to change the mode
    // of another owner's file is harmless.
    let _ = permissions::make_private(&file);
    Ok(file)
}
