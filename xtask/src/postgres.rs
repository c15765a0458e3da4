//! PostgreSQL for the tests, which a script installs.

use std::process::Command;

use crate::workspace::Workspace;

/// The command that installs it where tests look for it, unless it is there.
pub(crate) fn command(workspace: &Workspace) -> Command {
    let mut command = workspace.command("python3");
    command.arg("tests/postgres/install.py");
    command.arg("--build-dir").arg(workspace.target.join("postgresql"));
    command
}
