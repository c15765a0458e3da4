//! The steps that run a Python script.

use std::process::Command;

use crate::workspace::Workspace;

/// Checks that the gateway's answers match its `OpenAPI` description.
pub(crate) fn openapi(workspace: &Workspace) -> Command {
    with_gateway(workspace, "openapi")
}

/// Opens web pages in a real browser against the gateway. The script installs the browser.
pub(crate) fn browser(workspace: &Workspace) -> Command {
    with_gateway(workspace, "browser")
}

/// Installs PostgreSQL at the place where tests look for it, unless it is installed.
pub(crate) fn postgres(workspace: &Workspace) -> Command {
    let mut command = workspace.command("python3");
    command.arg("tests/postgres/install.py");
    command.arg("--build-dir").arg(workspace.target.join("postgresql"));
    command
}

fn with_gateway(workspace: &Workspace, name: &str) -> Command {
    let mut command = workspace.command("python3");
    command.arg(format!("tests/{name}/run.py"));
    command.arg("--antiphon").arg(workspace.binary("antiphon"));
    command.arg("--build-dir").arg(workspace.target.join(name));
    command
}
