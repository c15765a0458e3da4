//! `cargo xtask chaos`: kills a gateway at random moments and checks what it promised.

use std::hash::{BuildHasher as _, RandomState};
use std::process::Command;

use clap::Args;

use crate::report::Report;
use crate::run::{execute, timed};
use crate::step::Step;
use crate::tally::Counts;
use crate::workspace::Workspace;

/// How often the gateway is killed, and among how many clients.
#[derive(Args)]
pub(crate) struct Chaos {
    /// How often to kill it [default: 10, with --long 200]
    #[arg(long, value_name = "N")]
    kills: Option<u32>,
    /// Kill it 200 times
    #[arg(long)]
    long: bool,
    /// How many clients there are
    #[arg(long, value_name = "N", default_value_t = CLIENTS)]
    clients: u32,
    /// The seed that requests and kills follow from; another one each time unless it is given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

const CLIENTS: u32 = 6;
/// Kills in a test run, and in the long form.
const KILLS: (u32, u32) = (10, 200);
/// The seed of every test run.
const SEED: u64 = 1;

/// Builds the gateway and kills it.
pub(crate) fn run(workspace: &Workspace, chaos: &Chaos) -> Report {
    let mut report = Report::default();
    report.add(timed("build", || Step::Build.run(workspace, &crate::Suites::all(false))));
    if !report.has_failures() {
        report.add(timed("chaos", || execute(chaos.command(workspace), Counts::None)));
    }
    report
}

/// The command of a test run, against the binaries that were built.
pub(crate) fn of_tests(workspace: &Workspace) -> Command {
    let chaos = Chaos { kills: None, long: false, clients: CLIENTS, seed: Some(SEED) };
    chaos.command(workspace)
}

impl Chaos {
    fn command(&self, workspace: &Workspace) -> Command {
        let kills = self.kills.unwrap_or(if self.long { KILLS.1 } else { KILLS.0 });
        let seed = self.seed.unwrap_or_else(|| RandomState::new().hash_one("chaos"));
        let mut command = workspace.command(workspace.binary("antiphon-chaos"));
        command.arg("--antiphon").arg(workspace.binary("antiphon"));
        command.arg("--kills").arg(kills.to_string());
        command.arg("--clients").arg(self.clients.to_string());
        command.arg("--seed").arg(seed.to_string());
        command
    }
}
