//! `cargo xtask streams`: what streams cost a gateway that are open and wait for their model.

use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::workspace::Workspace;

/// How many streams are opened.
#[derive(Args)]
pub(crate) struct Streams {
    /// How many streams are open at once
    #[arg(long, value_name = "STREAMS", default_value_t = 5000)]
    count: usize,
}

const BUILD: &[&str] = &[
    "build",
    "--quiet",
    "--release",
    "--package=antiphon-cli",
    "--bin=antiphon",
    "--package=antiphon-testkit",
    "--bin=streams",
];

/// Builds the gateway as it is released, opens the streams, and prints what they cost.
pub(crate) fn run(workspace: &Workspace, streams: &Streams) -> anyhow::Result<ExitCode> {
    let built = workspace.cargo(BUILD).status().context("cargo cannot be run")?;
    ensure!(built.success(), "the gateway cannot be built");
    let mut load = workspace.command(workspace.release("streams"));
    load.arg("--antiphon").arg(workspace.release("antiphon"));
    load.arg("--count").arg(streams.count.to_string());
    let measured = load.status().context("the streams cannot be opened")?;
    Ok(if measured.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
