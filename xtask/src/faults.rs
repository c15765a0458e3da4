//! `cargo xtask faults`: the outcome of every fault, as listed in `FAULTS.md`.

use clap::Args;

use crate::report::Report;
use crate::run::{execute, timed};
use crate::tally::Counts;
use crate::workspace::Workspace;

/// Whether to compare or to write the tables.
#[derive(Args)]
pub(crate) struct Faults {
    /// Rewrite the tables; review them before you commit
    #[arg(long)]
    write: bool,
}

const TEST: &[&str] = &["test", "--package=antiphon-gateway", "--test=it", "faults::"];

/// Runs the tests that compare the tables with the gateway.
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
