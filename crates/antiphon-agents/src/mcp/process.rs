//! The process of a server.

use std::process::{Command, Stdio};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::process::{Child, ChildStdin, ChildStdout};

/// The time that a process has to end after its standard input is closed.
const GRACE: Duration = Duration::from_secs(3);

/// The connection to a process: one message in each line.
pub(super) type StdioTransport = AsyncRwTransport<RoleClient, ChildStdout, ChildStdin>;

/// The process of a server. Dropping it kills it.
pub(super) struct Process(Child);

impl Process {
    /// Starts a command, and connects to it. Lines that are longer than `max_message` are skipped.
    pub(super) fn start(
        command: Command,
        max_message: usize,
    ) -> std::io::Result<(Self, StdioTransport)> {
        let mut command = tokio::process::Command::from(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let input = child.stdin.take().expect("the input is piped");
        let output = child.stdout.take().expect("the output is piped");
        let transport = AsyncRwTransport::new(output, input).with_max_line_length(max_message);
        Ok((Self(child), transport))
    }

    /// Waits until the process ends by itself, and kills it otherwise. Its input is closed.
    pub(super) async fn end(mut self) {
        if tokio::time::timeout(GRACE, self.0.wait()).await.is_err() {
            // It ended meanwhile if it cannot be killed.
            let _ = self.0.kill().await;
        }
    }
}
