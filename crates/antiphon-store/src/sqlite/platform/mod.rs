//! The operating system's part of a database file. Each system has the same functions.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::*;
#[cfg(windows)]
pub(super) use windows::*;

/// The volume and the number of a file on it: equal for all names of the file.
pub(super) type FileId = (u64, u64);

/// The byte of a database file that [`DatabaseLock`] locks. SQLite uses it in no database; its own
/// locks are from byte 2^30 on.
const LOCKED_BYTE: i64 = i64::MAX - 1;
