//! Events of the console, permissions and processes of Windows.

use std::convert::Infallible;
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::future;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};

/// An event of the console that ends programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    CtrlC,
    CtrlBreak,
    Close,
    Shutdown,
}

impl Signal {
    /// The name of the event in the documentation of Windows.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::CtrlC => "CTRL_C_EVENT",
            Self::CtrlBreak => "CTRL_BREAK_EVENT",
            Self::Close => "CTRL_CLOSE_EVENT",
            Self::Shutdown => "CTRL_SHUTDOWN_EVENT",
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The events that end the process. Once this exists, Ctrl-C and Ctrl-Break no longer end it by
/// themselves. After the other events, Windows gives it some seconds: 5 if its window is closed, 20
/// if the machine shuts down. The end of a user's session is no such event: a service receives it
/// for every user.
pub(crate) struct Signals {
    ctrl_c: CtrlC,
    ctrl_break: CtrlBreak,
    close: CtrlClose,
    shutdown: CtrlShutdown,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            ctrl_c: ctrl_c()?,
            ctrl_break: ctrl_break()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Waits for the next event.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.ctrl_c.recv() => Signal::CtrlC,
            _ = self.ctrl_break.recv() => Signal::CtrlBreak,
            _ = self.close.recv() => Signal::Close,
            _ = self.shutdown.recv() => Signal::Shutdown,
        }
    }
}

/// Windows has no SIGHUP.
pub(crate) struct Hangups;

impl Hangups {
    #[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Never returns.
    pub(crate) async fn log_each(self) -> Infallible {
        future::pending().await
    }
}

/// The events that must not end `run` before its agent.
pub(crate) type ForwardedSignals = Signals;

/// Does nothing: Windows sends the events of a console to each of its processes.
pub(crate) fn forward(_: Signal, _: u32) {}

/// Ends the process of an agent and its children. Windows has no way to ask a process of the same
/// console to end without asking all of them.
pub(crate) fn terminate(process: u32) {
    let mut taskkill = Command::new("taskkill");
    taskkill.args(["/T", "/F", "/PID", &process.to_string()]);
    let ended = taskkill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match ended {
        Ok(status) if status.success() => {}
        Ok(status) => tracing::warn!(%status, "taskkill could not end the agent"),
        Err(error) => tracing::warn!(%error, "taskkill could not be started to end the agent"),
    }
}

/// The exit code of a process.
pub(crate) fn exit_code(status: ExitStatus) -> Option<i32> {
    status.code()
}

/// The command that starts a program on the PATH. npm installs programs as scripts (`codex.cmd`),
/// which Windows finds only by their full names.
pub(crate) fn command(program: &str) -> Command {
    let path = env::var_os("PATH").unwrap_or_default();
    Command::new(find(program, &path).unwrap_or_else(|| program.into()))
}

/// The first file on the PATH that is this program.
fn find(program: &str, path: &OsString) -> Option<PathBuf> {
    let files = env::split_paths(path).flat_map(|folder| {
        PROGRAM_EXTENSIONS.map(|extension| folder.join(format!("{program}.{extension}")))
    });
    files.into_iter().find(|file| file.is_file())
}

/// The extensions of programs that this process can start.
const PROGRAM_EXTENSIONS: [&str; 3] = ["exe", "cmd", "bat"];

/// The programs that open a page in the user's browser, in the order of trial.
pub(crate) const BROWSER_COMMANDS: &[&str] = &["explorer"];

/// Whether text on this stream may have colors. Consoles before Windows Terminal show them only if
/// a program asks for it.
pub(crate) fn shows_colors(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && nu_ansi_term::enable_ansi_support().is_ok()
}

/// Whether files have modes, which [`shared_mode`] checks.
pub(crate) const HAS_MODES: bool = false;

/// Leaves the options as they are. Windows has no modes: a new file has the permissions that its
/// directory passes on.
pub(crate) fn set_private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Creates a folder, and those above it. It has the permissions that its directory passes on.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Always `None`: a file of Windows has no mode.
pub(crate) fn shared_mode(_: &Path) -> Option<u32> {
    None
}

/// Does nothing: Windows limits the sockets of a process only by its memory.
pub(crate) fn raise_open_file_limit() {}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn script_of_npm_is_found_by_its_name() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [first, second] = folders.each_ref().map(|folder| folder.path());
        // npm also installs a script for shells of Unix, without an extension.
        fs::write(first.join("agent"), "").unwrap();
        fs::write(second.join("agent.cmd"), "").unwrap();
        fs::write(second.join("agent.bat"), "").unwrap();
        let path = env::join_paths([first, second]).unwrap();

        assert_eq!(find("agent", &path), Some(second.join("agent.cmd")));
        assert_eq!(find("other", &path), None);
    }
}
