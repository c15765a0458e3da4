//! Measures the gateway and its peers under load.

use std::path::{self, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use clap::Args;

use crate::measurements::{LOAD, build, build_gateway};
use crate::workspace::Workspace;

/// The cases and the servers of `cargo xtask bench --gateway`.
#[derive(Args)]
pub(crate) struct GatewayLoad {
    /// Measure the gateway and its installed peers under load, and nothing else
    #[arg(long, conflicts_with = "packages")]
    gateway: bool,
    /// With --gateway: run only this case; may be repeated
    #[arg(long, value_name = "NAME", requires = "gateway")]
    case: Vec<String>,
    /// With --gateway: measure only servers whose names contain this text; may be repeated
    #[arg(long, value_name = "TEXT", requires = "gateway")]
    server: Vec<String>,
    /// With --gateway: a folder with peers, whose programs are in `DIR/bin` or `DIR/*/bin`
    #[arg(long, value_name = "DIR", requires = "gateway")]
    peers: Option<PathBuf>,
    /// With --gateway: write the results to a file
    #[arg(long, value_name = "FILE", requires = "gateway")]
    json: Option<PathBuf>,
    /// With --gateway: a built gateway; by default, a release build of this workspace
    #[arg(long, value_name = "PROGRAM", requires = "gateway")]
    antiphon: Option<PathBuf>,
}

impl GatewayLoad {
    pub(super) fn is_chosen(&self) -> bool {
        self.gateway
    }

    /// Builds the gateway and the load, and runs the cases.
    pub(super) fn measure(&self, workspace: &Workspace, short: bool) -> anyhow::Result<ExitCode> {
        if self.antiphon.is_none() {
            build_gateway(workspace)?;
        }
        build(workspace, LOAD)?;
        let status = self.command(workspace, short)?.status().context("could not run the load")?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn command(&self, workspace: &Workspace, short: bool) -> anyhow::Result<Command> {
        let mut load = workspace.command(workspace.release("gateway-bench"));
        let antiphon = match &self.antiphon {
            Some(program) => path::absolute(program)?,
            None => workspace.release("antiphon"),
        };
        load.arg("--antiphon").arg(antiphon);
        load.arg("--folder").arg(workspace.target.join("gateway-bench"));
        load.args(short.then_some("--short"));
        for case in &self.case {
            load.arg("--case").arg(case);
        }
        for server in &self.server {
            load.arg("--server").arg(server);
        }
        if let Some(peers) = &self.peers {
            load.arg("--peers").arg(path::absolute(peers)?);
        }
        if let Some(file) = &self.json {
            load.arg("--json").arg(file);
        }
        Ok(load)
    }
}
