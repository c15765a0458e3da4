//! `cargo xtask memory`: measures the memory of a gateway under hostile loads.

use std::path::PathBuf;
use std::process::ExitCode;

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

const LOADS: &[&str] = &["build", "--quiet", "--package=antiphon-testkit", "--bin=memory"];

const GATEWAY: &[&str] =
    &["build", "--quiet", "--release", "--package=antiphon-cli", "--bin=antiphon"];

/// Builds the gateway for release, runs the loads, and prints their memory. Fails if a load exceeds
/// its bound.
pub(crate) fn run(workspace: &Workspace, memory: &Memory) -> anyhow::Result<ExitCode> {
    let antiphon = if let Some(antiphon) = &memory.antiphon {
        antiphon.clone()
    } else {
        build(workspace, GATEWAY)?;
        workspace.release("antiphon")
    };
    build(workspace, LOADS)?;
    let mut load = workspace.command(workspace.binary("memory"));
    let measured = load.arg("--antiphon").arg(antiphon).status();
    let measured = measured.context("could not run the loads")?;
    Ok(if measured.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<()> {
    let built = workspace.cargo(arguments).status().context("could not run cargo")?;
    ensure!(built.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}
