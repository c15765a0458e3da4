//! A server process that ends with this process.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::account::Account;
use super::platform::leave_process_group;

/// A running server. Its parent is a shell that ends the server when this process exits or drops
/// the watchdog: the shell's input closes even if the process is killed.
///
/// The phase follows the server's log:
///
/// ```text
/// Starting ── ready to accept connections ──> Ready ── STOP ──> Paused
///     │                                         │ <── CONT ──────┘
///     └── end of the log ──> Ended <────────────┘
/// ```
///
/// The log ends with the last process of the server. A plain thread reads it, because a shared
/// server outlives the runtime of the test that started it.
#[derive(Debug)]
pub(super) struct Watchdog {
    input: Option<ChildStdin>,
    phase: watch::Receiver<Phase>,
    log: Arc<Log>,
    listener: Option<thread::JoinHandle<()>>,
}

/// The phase of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Starting,
    Ready,
    Paused,
    Ended,
}

/// A signal for a server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Signal {
    /// Ends every session and stops.
    FastShutdown,
    /// Stops immediately. The next start runs recovery.
    ImmediateShutdown,
    /// Suspends the server's processes. Their connections stay open.
    Pause,
    /// Resumes the processes.
    Resume,
}

impl Watchdog {
    /// Starts a server with files in `folder`. Dropping the watchdog deletes the folder.
    pub(super) fn start(
        account: Account,
        folder: &Path,
        server: &std::process::Command,
    ) -> io::Result<Self> {
        let mut shell = account.command(Path::new("/bin/sh"), folder);
        shell.args(["-c", SCRIPT, "watchdog"]).arg(folder);
        shell.arg(server.get_program()).args(server.get_args());
        // Ctrl-C in a terminal reaches only the tests; their exit ends the server.
        leave_process_group(&mut shell);
        let shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Ok(Self::new(shell.spawn()?))
    }

    fn new(mut shell: Child) -> Self {
        let input = shell.stdin.take();
        let (phase, watched) = watch::channel(Phase::Starting);
        let log = Arc::new(Log::default());
        let listener = thread::spawn({
            let log = Arc::clone(&log);
            move || follow_log(shell, &log, &phase)
        });
        Self { input, phase: watched, log, listener: Some(listener) }
    }

    /// Sends a signal to the server.
    pub(super) fn signal(&mut self, signal: Signal) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(input, "{}", signal.name())
    }

    /// Waits until the server reaches a phase. Fails if the server ends or takes too long; the
    /// error has the last lines of the log.
    pub(super) async fn wait_for_phase(&self, wanted: Phase) -> io::Result<()> {
        let mut phase = self.phase.clone();
        let reached = phase.wait_for(|phase| *phase == wanted || *phase == Phase::Ended);
        match timeout(TIMEOUT, reached).await {
            Ok(Ok(phase)) if *phase == wanted => Ok(()),
            Ok(_) => Err(self.error("PostgreSQL has ended")),
            Err(_) => Err(self.error("PostgreSQL takes too long")),
        }
    }

    fn error(&self, what: &str) -> io::Error {
        io::Error::other(format!("{what}; its log ends with:\n{}", self.log.text()))
    }
}

/// Ends the server and waits until its last process has exited.
impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.input.take());
        if let Some(listener) = self.listener.take() {
            listener.join().expect("it does not panic");
        }
    }
}

impl Signal {
    /// The signal's name. PostgreSQL's manual lists them in *Shutting Down the Server*.
    fn name(self) -> &'static str {
        match self {
            Self::FastShutdown => "INT",
            Self::ImmediateShutdown => "QUIT",
            Self::Pause => "STOP",
            Self::Resume => "CONT",
        }
    }
}

/// Reads the server's log to its end.
fn follow_log(mut shell: Child, log: &Log, phase: &watch::Sender<Phase>) {
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
const TIMEOUT: Duration = Duration::from_mins(1);
const LOG_LINES: usize = 100;
