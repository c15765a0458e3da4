//! The description of what is served, to which a script holds a gateway's answers.

use std::process::Command;

use crate::workspace::Workspace;

/// The command that makes requests of the description, against the binary that was built.
pub(crate) fn command(workspace: &Workspace) -> Command {
    let mut command = workspace.command("python3");
    command.arg("tests/openapi/run.py");
    command.arg("--antiphon").arg(workspace.binary("antiphon"));
    command.arg("--build-dir").arg(workspace.target.join("openapi"));
    command
}
