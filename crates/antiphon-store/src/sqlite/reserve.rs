//! Reserves disk space, so that deletes work on a full disk.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::platform;

/// In bytes. SQLite moves its write-ahead log into the database every 8 MB, and the database may
/// grow by as much. The other half is for the log of the deletes.
const SIZE: u64 = 16 << 20;

/// The reserve is at most the free space at the start, divided by this.
const PART: u64 = 2;

/// The file `PATH-reserve` next to a database. It occupies disk space and holds no data.
///
/// The reserve is no guarantee: another program may use the space after it is released, and a file
/// system that never overwrites in place may need more. On
/// systems other than Linux and Windows there is none.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    size: u64,
}

impl Reserve {
    /// Allocates the reserve for the database at `database`.
    pub(super) fn new(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push("-reserve");
        let path = PathBuf::from(path);
        // A process that was killed leaves its reserve.
        remove(&path);
        let free = database.parent().map(platform::free_space);
        let size = free.and_then(Result::ok).map_or(0, |free| SIZE.min(free / PART));
        let reserve = Self { path, size };
        reserve.take();
        reserve
    }

    /// Allocates the space. If it is not free, allocates a half, a quarter or an eighth of it.
    pub(super) fn take(&self) {
        let sizes = [self.size, self.size / 2, self.size / 4, self.size / 8];
        if self.size > 0 && !sizes.into_iter().any(|size| self.allocate(size).is_ok()) {
            tracing::debug!(size = self.size, "there is no disk space for the reserve");
        }
    }

    /// Releases the space to the database.
    pub(super) fn give_up(&self) {
        remove(&self.path);
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let file = platform::set_private(&mut options).open(&self.path)?;
        platform::allocate(&file, size).inspect_err(|_| self.give_up())
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        self.give_up();
    }
}

fn remove(path: &Path) {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(file = %path.display(), %error, "could not remove the disk reserve");
        }
        _ => {}
    }
}
