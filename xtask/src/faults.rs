//! `cargo xtask faults`: what comes of every fault, as `FAULTS.md` tells it.

use clap::Args;

use crate::report::Report;
use crate::run::{execute, timed};
use crate::tally::Counts;
use crate::workspace::Workspace;

/// Whether the tables are compared or written.
#[derive(Args)]
pub(crate) struct Faults {
    /// Write the tables anew; they are to be read before they are kept
    #[arg(long)]
    write: bool,
}

const TEST: &[&str] = &["test", "--package=antiphon-gateway", "--test=it", "faults::"];

/// Runs the tests that hold the tables to be true.
pub(crate) fn run(workspace: &Workspace, faults: &Faults) -> Report {
    let mut command = workspace.cargo(TEST);
    match faults.write {
        true => command.env("ANTIPHON_GOLDEN", "write"),
        false => command.env_remove("ANTIPHON_GOLDEN"),
    };
    let mut report = Report::default();
    report.add(timed("faults", || execute(command, Counts::Cargo)));
    report
}
