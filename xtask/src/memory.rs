//! `cargo xtask memory`: what hostile loads cost a gateway in memory.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::workspace::Workspace;

/// Which gateway is measured.
#[derive(Args)]
pub(crate) struct Memory {
    /// A gateway that is built already; without one it is built as it is released
    #[arg(long, value_name = "PROGRAM")]
    antiphon: Option<PathBuf>,
}

const LOADS: &[&str] = &["build", "--quiet", "--package=antiphon-testkit", "--bin=memory"];

const GATEWAY: &[&str] =
    &["build", "--quiet", "--release", "--package=antiphon-cli", "--bin=antiphon"];

/// Builds the gateway as it is released, makes the loads, and prints what they cost. Fails where one
/// costs more than its bound.
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
    let measured = measured.context("the loads cannot be made")?;
    Ok(if measured.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<()> {
    let built = workspace.cargo(arguments).status().context("cargo cannot be run")?;
    ensure!(built.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}
