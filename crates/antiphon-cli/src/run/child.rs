//! The agent's process, in the foreground with the terminal of this one.

use std::io;
use std::process::{Child, ExitCode, ExitStatus};

use tokio::task::{JoinHandle, spawn_blocking};

use super::agent::{Agent, Launch};
use crate::failure::Failure;
use crate::platform::{self, ForwardedSignals};

/// A running agent.
pub(super) struct AgentProcess {
    id: u32,
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
        let id = child.id();
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
                signal = self.signals.next() => platform::forward(signal, self.id),
            }
        }
    }

    /// Asks the agent to end.
    pub(super) fn terminate(&self) {
        platform::terminate(self.id);
    }
}

fn spawn(launch: &Launch) -> io::Result<Child> {
    let mut command = platform::command(launch.program);
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

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = platform::exit_code(status).and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(1))
}
