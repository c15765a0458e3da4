//! `cargo xtask streams`: measures the cost of open streams that wait for their model.

use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::workspace::Workspace;

/// The number of streams.
#[derive(Args)]
pub(crate) struct Streams {
    /// The number of streams that are open at once
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

/// Builds the gateway for release, opens the streams, and prints their cost.
pub(crate) fn run(workspace: &Workspace, streams: &Streams) -> anyhow::Result<ExitCode> {
    let built = workspace.cargo(BUILD).status().context("could not run cargo")?;
    ensure!(built.success(), "could not build the gateway");
    let mut load = workspace.command(workspace.release("streams"));
    load.arg("--antiphon").arg(workspace.release("antiphon"));
    load.arg("--count").arg(streams.count.to_string());
    let measured = load.status().context("could not open the streams")?;
    Ok(if measured.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
