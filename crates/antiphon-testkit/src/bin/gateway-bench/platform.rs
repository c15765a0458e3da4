//! Functions of the operating system. The measurements themselves need Linux's `/proc`.

use std::io;

use tokio::process::Command;

/// The number of files that this process may open.
#[cfg(unix)]
pub(crate) fn open_file_limit() -> io::Result<u64> {
    Ok(rlimit::getrlimit(rlimit::Resource::NOFILE)?.0)
}

/// Windows has no such limit.
#[cfg(windows)]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn open_file_limit() -> io::Result<u64> {
    Ok(u64::MAX)
}

/// Runs the command in a process group of its own.
#[cfg(unix)]
pub(crate) fn leave_process_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Runs the command in a process group of its own.
#[cfg(windows)]
pub(crate) fn leave_process_group(command: &mut Command) -> &mut Command {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    command.creation_flags(CREATE_NEW_PROCESS_GROUP)
}
