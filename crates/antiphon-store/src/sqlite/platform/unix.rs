//! Files of Unix.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use super::FileId;

/// The mode of files that hold conversations: only their owner reads and writes them.
const PRIVATE: u32 = 0o600;

/// The permissions of the group and of all others.
const OTHERS: u32 = 0o077;

/// Sets the mode of a file that these options create: only its owner may access it.
pub(crate) fn set_private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(PRIVATE)
}

/// Sets the mode of a new file. The umask may have removed some permissions of its owner.
pub(crate) fn make_private(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(PRIVATE))
}

/// The mode of an existing file, if it grants permissions to anyone but the owner.
pub(crate) fn shared_mode(path: &Path) -> Option<u32> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o7777;
    (mode & OTHERS != 0).then_some(mode)
}

/// The identity of the file at `path`. Opens no handle: closing one would release the locks that
/// SQLite holds on the file in this process.
pub(crate) fn file_id(path: &Path) -> io::Result<FileId> {
    fs::metadata(path).map(|metadata| id_of(&metadata))
}

fn id_of(metadata: &fs::Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

/// An exclusive lock of a database file, which its other names share.
#[derive(Debug)]
pub(crate) struct DatabaseLock {
    id: FileId,
    links: u64,
    /// The handle that owns the lock.
    _database: File,
}

impl DatabaseLock {
    /// Locks the open file `database`. Fails with the kind `WouldBlock` if the lock is taken.
    pub(crate) fn acquire(database: File, _: &Path) -> io::Result<Self> {
        lock_byte(&database)?;
        let metadata = database.metadata()?;
        Ok(Self { id: id_of(&metadata), links: metadata.nlink(), _database: database })
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

/// Locks a byte that SQLite does not use. The handles that SQLite opens and closes do not affect
/// this lock.
#[cfg(target_os = "linux")]
fn lock_byte(database: &File) -> io::Result<()> {
    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;

    let short = |constant: i32| libc::c_short::try_from(constant).expect("it is one digit");
    let lock = libc::flock {
        l_type: short(libc::F_WRLCK),
        l_whence: short(libc::SEEK_SET),
        l_start: super::LOCKED_BYTE,
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
fn lock_byte(_: &File) -> io::Result<()> {
    Ok(())
}

/// Allocates disk space for a new file.
#[cfg(target_os = "linux")]
pub(crate) fn allocate(file: &File, size: u64) -> io::Result<()> {
    let size = i64::try_from(size).map_err(io::Error::other)?;
    Ok(nix::fcntl::posix_fallocate(file, 0, size)?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn allocate(_: &File, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The bytes that this process may still write to the file system of a directory.
#[cfg(target_os = "linux")]
pub(crate) fn free_space(directory: &Path) -> io::Result<u64> {
    let found = nix::sys::statvfs::statvfs(directory)?;
    Ok(found.blocks_available() * found.fragment_size())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn free_space(_: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}
