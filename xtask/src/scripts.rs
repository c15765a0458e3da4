//! The steps that run a Python script.

use std::process::Command;

use clap::Args;

use crate::workspace::Workspace;

/// The suites to run.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suites {
    /// Run every combination
    #[arg(long)]
    long: bool,
    /// Run only this suite; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Run the suites in this setup only; may be repeated
    #[arg(long, value_name = "NAME")]
    setup: Vec<String>,
    /// Run the suites with these versions of the clients: newest or oldest; may be repeated; by
    /// default the newest, and with --long both
    #[arg(long, value_name = "NAME")]
    versions: Vec<String>,
}

impl Suites {
    /// Every suite.
    pub(crate) fn all(long: bool) -> Self {
        Self { long, only: Vec::new(), setup: Vec::new(), versions: Vec::new() }
    }
}

/// The command that runs the suites against the built binaries.
pub(crate) fn clients(workspace: &Workspace, suites: &Suites) -> Command {
    let mut command = workspace.command("python3");
    command.arg("tests/clients/run.py");
    command.arg("--antiphon").arg(workspace.binary("antiphon"));
    command.arg("--fake-upstream").arg(workspace.binary("fake-upstream"));
    command.arg("--build-dir").arg(workspace.target.join("clients"));
    command.arg(if suites.long { "--long" } else { "--short" });
    for name in &suites.only {
        command.arg("--only").arg(name);
    }
    for name in &suites.setup {
        command.arg("--setup").arg(name);
    }
    for name in &suites.versions {
        command.arg("--versions").arg(name);
    }
    command
}

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
