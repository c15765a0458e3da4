//! Pages in a real browser, which a script installs and lets loose on a gateway.

use std::process::Command;

use crate::workspace::Workspace;

/// The command that opens the pages, with the binary that was built.
pub(crate) fn command(workspace: &Workspace) -> Command {
    let mut command = workspace.command("python3");
    command.arg("tests/browser/run.py");
    command.arg("--antiphon").arg(workspace.binary("antiphon"));
    command.arg("--build-dir").arg(workspace.target.join("browser"));
    command
}
