//! The same for Windows, where these tests compile, but find no shell for a server.

use std::fs;
use std::io;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

pub(crate) use std::os::windows::fs::symlink_file as symlink;

/// Always false: Windows has no such user.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn is_owned_by_superuser(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Fails: the users of Windows have no numbers.
pub(crate) fn chown(_: &Path, _: u32, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates a folder with the permissions of the one that it is in.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Does nothing: no account has numbers (see [`chown`]).
pub(crate) fn run_as(_: &mut Command, _: u32, _: u32) {}

/// Runs the command in a process group of its own: Ctrl-C in a terminal does not reach it.
pub(crate) fn leave_process_group(command: &mut Command) {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}
