//! A server's process, bound to the life of this one.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::account::Account;

/// A server that runs, under a shell that ends it when this process is gone, or lets go of it: even a
/// killed process closes its pipes.
///
/// What the server tells in its log is what becomes of it:
///
/// ```text
/// Starting ── ready to accept connections ──> Ready ── STOP ──> Paused
///     │                                         │ <── CONT ──────┘
///     └── end of the log ──> Ended <────────────┘
/// ```
///
/// The log ends with the last of its processes. The threads of it belong to no runtime, since a
/// server of a whole process outlives the runtime of the test that started it.
#[derive(Debug)]
pub(super) struct Watchdog {
    orders: Option<ChildStdin>,
    phase: watch::Receiver<Phase>,
    log: Arc<Log>,
    listener: Option<thread::JoinHandle<()>>,
}

/// What a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Starting,
    Ready,
    Paused,
    Ended,
}

/// How a server is told something.
#[derive(Clone, Copy, Debug)]
pub(super) enum Signal {
    /// Ends every session and stops.
    FastShutdown,
    /// Stops as it is, to recover at its next start.
    ImmediateShutdown,
    /// Its processes do nothing any more, and keep their connections.
    Pause,
    /// They go on.
    Resume,
}

impl Watchdog {
    /// Starts a server, whose files are in `folder`: the folder is removed with the watchdog.
    pub(super) fn start(
        account: Account,
        folder: &Path,
        server: &std::process::Command,
    ) -> io::Result<Self> {
        let mut shell = account.command(Path::new("/bin/sh"), folder);
        shell.args(["-c", SCRIPT, "watchdog"]).arg(folder);
        shell.arg(server.get_program()).args(server.get_args());
        // A terminal's interruption reaches the tests alone; their end then ends the server.
        shell.process_group(0);
        let shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Ok(Self::over(shell.spawn()?))
    }

    fn over(mut shell: Child) -> Self {
        let orders = shell.stdin.take();
        let (phase, watched) = watch::channel(Phase::Starting);
        let log = Arc::new(Log::default());
        let listener = thread::spawn({
            let log = Arc::clone(&log);
            move || listen(shell, &log, &phase)
        });
        Self { orders, phase: watched, log, listener: Some(listener) }
    }

    /// Tells the server something.
    pub(super) fn signal(&mut self, signal: Signal) -> io::Result<()> {
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(orders, "{}", signal.name())
    }

    /// Waits until the server has come to a phase. It may end instead, or take too long: the error
    /// has its last words.
    pub(super) async fn reached(&self, wanted: Phase) -> io::Result<()> {
        let mut phase = self.phase.clone();
        let reached = phase.wait_for(|phase| *phase == wanted || *phase == Phase::Ended);
        match timeout(PATIENCE, reached).await {
            Ok(Ok(phase)) if *phase == wanted => Ok(()),
            Ok(_) => Err(self.error("PostgreSQL has ended")),
            Err(_) => Err(self.error("PostgreSQL takes too long")),
        }
    }

    fn error(&self, what: &str) -> io::Error {
        io::Error::other(format!("{what}; it said:\n{}", self.log.text()))
    }
}

/// Ends the server, and waits until nothing of it is left.
impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(listener) = self.listener.take() {
            listener.join().expect("it does not panic");
        }
    }
}

impl Signal {
    /// What PostgreSQL's manual says of each, under *Shutting Down the Server*.
    fn name(self) -> &'static str {
        match self {
            Self::FastShutdown => "INT",
            Self::ImmediateShutdown => "QUIT",
            Self::Pause => "STOP",
            Self::Resume => "CONT",
        }
    }
}

/// Hears the server to its end.
fn listen(mut shell: Child, log: &Log, phase: &watch::Sender<Phase>) {
    let output = shell.stdout.take().expect("it is piped");
    for line in BufReader::new(output).split(b'\n') {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line).into_owned();
        if let Some(next) = phase_after(&line) {
            phase.send_replace(next);
        }
        log.add(line);
    }
    drop(shell.wait());
    phase.send_replace(Phase::Ended);
}

fn phase_after(line: &str) -> Option<Phase> {
    match line {
        "watchdog: paused" => Some(Phase::Paused),
        "watchdog: resumed" => Some(Phase::Ready),
        line => {
            line.ends_with("database system is ready to accept connections").then_some(Phase::Ready)
        }
    }
}

/// The last lines of a server's log.
#[derive(Debug, Default)]
struct Log(Mutex<VecDeque<String>>);

impl Log {
    fn add(&self, line: String) {
        let mut lines = self.0.lock().expect("no holder panics");
        if lines.len() == LOG_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn text(&self) -> String {
        let lines = self.0.lock().expect("no holder panics");
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

const SCRIPT: &str = include_str!("watchdog.sh");
const PATIENCE: Duration = Duration::from_mins(1);
const LOG_LINES: usize = 100;
