//! The permissions of a database's files.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The mode of files that hold conversations: only their owner reads and writes them.
pub(super) const PRIVATE: u32 = 0o600;

/// The permissions of the group and of all others.
const OTHERS: u32 = 0o077;

/// Sets the mode of a new file. The umask may have removed some permissions of its owner.
pub(super) fn make_private(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(PRIVATE))
}

/// Logs a warning for each file of the database at `path` that other users can access.
pub(super) fn warn_if_shared(path: &Path) {
    for (file, mode) in shared_files(path) {
        tracing::warn!(
            file = %file.display(),
            mode = format_args!("{mode:04o}"),
            "other users of this machine can access a file of the store, which holds \
             conversations and keys; run chmod 600 on it to prevent that",
        );
    }
}

/// The files of the database at `path` that other users can access, and their modes. SQLite creates
/// its files (`-wal`, `-shm`) with the mode of the database.
pub(super) fn shared_files(path: &Path) -> Vec<(PathBuf, u32)> {
    let file = |suffix: &&str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let file = PathBuf::from(name);
        shared_mode(&file).map(|mode| (file, mode))
    };
    ["", "-wal", "-shm"].iter().filter_map(file).collect()
}

/// The mode of an existing file, if it grants permissions to anyone but the owner.
fn shared_mode(path: &Path) -> Option<u32> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o7777;
    (mode & OTHERS != 0).then_some(mode)
}
