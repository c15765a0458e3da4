//! Users, folders and process groups of Unix.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

pub(crate) use std::os::unix::fs::symlink;

const SUPERUSER: u32 = 0;

/// Whether the superuser owns a file or a folder.
pub(crate) fn is_owned_by_superuser(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.uid() == SUPERUSER)
}

/// Makes a user the owner of a file or a folder.
pub(crate) fn chown(path: &Path, uid: u32, gid: u32) -> io::Result<()> {
    std::os::unix::fs::chown(path, Some(uid), Some(gid))
}

/// Creates a folder that no other user may read.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Runs the command as a user.
pub(crate) fn run_as(command: &mut Command, uid: u32, gid: u32) {
    command.uid(uid).gid(gid);
}

/// Runs the command in a process group of its own: Ctrl-C in a terminal does not reach it.
pub(crate) fn leave_process_group(command: &mut Command) {
    command.process_group(0);
}
