//! Signals, permissions and processes of Unix.

use std::convert::Infallible;
use std::fs::{self, DirBuilder, OpenOptions};
use std::future;
use std::io::{self, IsTerminal};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};

pub(crate) use nix::sys::signal::Signal;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use tokio::signal::unix::{Signal as TokioSignal, SignalKind, signal};

/// SIGINT and SIGTERM. Once this exists, these signals no longer end the process by themselves.
pub(crate) struct Signals {
    interrupt: TokioSignal,
    terminate: TokioSignal,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::SIGINT,
            _ = self.terminate.recv() => Signal::SIGTERM,
        }
    }
}

/// SIGHUP, by which many daemons reload their settings. Once this exists, SIGHUP no longer ends the
/// process.
pub(crate) struct Hangups(TokioSignal);

impl Hangups {
    pub(crate) fn listen() -> io::Result<Self> {
        signal(SignalKind::hangup()).map(Self)
    }

    /// Logs each SIGHUP and changes nothing. A reload would have to replace keys, upstreams and
    /// limits under open turns; a restart lets these turns end first.
    pub(crate) async fn log_each(mut self) -> Infallible {
        while self.0.recv().await.is_some() {
            tracing::warn!(
                "SIGHUP ignored: settings are read only at the start; to apply changes, check \
                 them with `antiphon serve --check`, then restart the gateway"
            );
        }
        future::pending().await
    }
}

/// The signals that `run` forwards to its agent. Once this exists, they no longer end the process
/// by themselves.
pub(crate) struct ForwardedSignals {
    ending: Signals,
    hangup: TokioSignal,
    quit: TokioSignal,
}

impl ForwardedSignals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            ending: Signals::listen()?,
            hangup: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            name = self.ending.next() => name,
            _ = self.hangup.recv() => Signal::SIGHUP,
            _ = self.quit.recv() => Signal::SIGQUIT,
        }
    }
}

/// Forwards a signal to the process of an agent.
///
/// Ctrl-C on the terminal reaches the agent without this process. A second SIGINT would end agents
/// that ask before they quit.
pub(crate) fn forward(signal: Signal, process: u32) {
    let is_from_terminal = signal == Signal::SIGINT && io::stdin().is_terminal();
    if !is_from_terminal {
        send(signal, process);
    }
}

/// Asks the process of an agent to end.
pub(crate) fn terminate(process: u32) {
    send(Signal::SIGTERM, process);
}

fn send(signal: Signal, process: u32) {
    if let Err(error) = kill(Pid::from_raw(process.cast_signed()), signal) {
        tracing::warn!(%signal, %error, "the signal could not be sent to the agent");
    }
}

/// The exit code of a shell: 128 and the number of the signal, if a signal ended the process.
pub(crate) fn exit_code(status: ExitStatus) -> Option<i32> {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal))
}

/// The command that starts a program on the PATH.
pub(crate) fn command(program: &str) -> Command {
    Command::new(program)
}

/// The programs that open a page in the user's browser, in the order of trial.
pub(crate) const BROWSER_COMMANDS: &[&str] = &["xdg-open", "open"];

/// Whether text on this stream may have colors.
pub(crate) fn shows_colors(stream: &impl IsTerminal) -> bool {
    stream.is_terminal()
}

/// Whether files have modes, which [`shared_mode`] checks.
pub(crate) const HAS_MODES: bool = true;

/// Lets only the owner access a file that these options create.
pub(crate) fn set_private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Creates a folder, and those above it, that only the owner can access.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The mode of an existing file, if it grants permissions to anyone but the owner.
pub(crate) fn shared_mode(path: &Path) -> Option<u32> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Raises the limit on open files. Every open stream takes two files: the caller's connection and
/// the upstream's. Systems start a process with a low soft limit and let it raise that limit.
pub(crate) fn raise_open_file_limit() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(files) => tracing::debug!(files, "raised the limit on open files"),
        Err(error) => tracing::warn!(%error, "could not raise the limit on open files"),
    }
}
