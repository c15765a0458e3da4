//! `cargo xtask memory`: measures the memory of a gateway under hostile loads.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::workspace::Workspace;

/// The gateway to measure.
#[derive(Args)]
pub(crate) struct Memory {
    /// A built gateway; by default, a release build of this workspace
    #[arg(long, value_name = "PROGRAM")]
    antiphon: Option<PathBuf>,
}

/// The arguments of cargo that build the gateway in the release profile.
pub(crate) const GATEWAY: &[&str] =
    &["build", "--quiet", "--release", "--package=antiphon-cli", "--bin=antiphon"];
/// The arguments of cargo that build the load in the release profile.
pub(crate) const LOAD: &[&str] =
    &["build", "--quiet", "--release", "--package=antiphon-testkit", "--bin=gateway-bench"];
const MEMORY: &[&str] = &["build", "--quiet", "--package=antiphon-testkit", "--bin=memory"];

/// Runs hostile loads against a release build of the gateway, and prints their memory. Fails if a
/// load exceeds its bound.
pub(crate) fn measure_memory(workspace: &Workspace, memory: &Memory) -> anyhow::Result<ExitCode> {
    let antiphon = if let Some(antiphon) = &memory.antiphon {
        antiphon.clone()
    } else {
        build_gateway(workspace)?;
        workspace.release("antiphon")
    };
    build(workspace, MEMORY)?;
    let mut load = workspace.command(workspace.binary("memory"));
    load.arg("--antiphon").arg(antiphon);
    run(load)
}

/// Builds the gateway in the release profile.
pub(crate) fn build_gateway(workspace: &Workspace) -> anyhow::Result<()> {
    build(workspace, GATEWAY)
}

/// Runs cargo with these arguments, and fails if it fails.
pub(crate) fn build(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<()> {
    let built = workspace.cargo(arguments).status().context("could not run cargo")?;
    ensure!(built.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}

fn run(mut load: Command) -> anyhow::Result<ExitCode> {
    let measured = load.status().context("could not run the load")?;
    Ok(if measured.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
