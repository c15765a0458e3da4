//! The agent's process, in the foreground with the terminal of this one.

use std::io::{self, IsTerminal as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode, ExitStatus};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::task::{JoinHandle, spawn_blocking};

use super::agent::{Agent, Launch};
use crate::failure::Failure;
use crate::signals::ForwardedSignals;

/// A running agent.
pub(super) struct AgentProcess {
    id: Pid,
    signals: ForwardedSignals,
    end: JoinHandle<io::Result<ExitStatus>>,
}

impl AgentProcess {
    /// Starts the agent. From then on, signals to this process pass to the agent.
    pub(super) fn start(agent: Agent, launch: &Launch) -> Result<Self, Failure> {
        let signals = ForwardedSignals::listen().map_err(|error| {
            Failure::runtime(format!("signal handlers cannot be installed: {error}"))
        })?;
        let mut child = spawn(launch).map_err(|error| not_started(agent, &error))?;
        let id = Pid::from_raw(child.id().cast_signed());
        Ok(Self { id, signals, end: spawn_blocking(move || Child::wait(&mut child)) })
    }

    /// Waits for the end of the agent. Forwards signals until then.
    pub(super) async fn wait(&mut self) -> Result<ExitCode, Failure> {
        let lost = |error: &dyn std::fmt::Display| {
            Failure::runtime(format!("the end of the agent cannot be awaited: {error}"))
        };
        loop {
            tokio::select! {
                ended = &mut self.end => {
                    let status = ended.map_err(|error| lost(&error))?;
                    return Ok(exit_code(status.map_err(|error| lost(&error))?));
                }
                signal = self.signals.next() => self.forward(signal),
            }
        }
    }

    /// Asks the agent to end.
    pub(super) fn terminate(&self) {
        self.send(Signal::SIGTERM);
    }

    /// Ctrl-C on the terminal reaches the agent without this process. A second SIGINT would end
    /// agents that ask before they quit.
    fn forward(&self, signal: Signal) {
        let is_from_terminal = signal == Signal::SIGINT && io::stdin().is_terminal();
        if !is_from_terminal {
            self.send(signal);
        }
    }

    fn send(&self, signal: Signal) {
        if let Err(error) = kill(self.id, signal) {
            tracing::warn!(%signal, %error, "the signal could not be sent to the agent");
        }
    }
}

fn spawn(launch: &Launch) -> io::Result<Child> {
    let mut command = Command::new(launch.program);
    for variable in &launch.removed {
        command.env_remove(variable);
    }
    let variables = launch.variables.iter().map(|(name, value)| (*name, value));
    command.args(&launch.arguments).envs(variables).spawn()
}

fn not_started(agent: Agent, error: &io::Error) -> Failure {
    let (program, command) = (agent.program(), agent.install_command());
    Failure::runtime(match error.kind() {
        io::ErrorKind::NotFound => {
            format!("{program} is not installed, or not on the PATH; install it: {command}")
        }
        _ => format!("{program} cannot be started: {error}"),
    })
}

/// The exit code of a shell: 128 and the number of the signal, if a signal ended the agent.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
