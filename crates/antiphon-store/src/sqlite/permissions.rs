//! The permissions of a database's files.

use std::path::{Path, PathBuf};

use super::platform::shared_mode;

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
