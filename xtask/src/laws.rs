//! `cargo xtask laws`: runs the engine's property tests on many more cases.

use std::hash::{BuildHasher as _, RandomState};
use std::process::Command;

use clap::Args;

use crate::report::Report;
use crate::run::{execute, timed};
use crate::tally::Counts;
use crate::workspace::Workspace;

/// The number of cases and their seed.
#[derive(Args)]
pub(crate) struct Laws {
    /// The number of generated cases for each law
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    cases: u32,
    /// The seed of the cases; random by default
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Runs the laws of the public interface, then those of the modules.
pub(crate) fn run(workspace: &Workspace, laws: &Laws) -> Report {
    let seed = laws.seed.unwrap_or_else(|| RandomState::new().hash_one("laws"));
    let command_line = format!("cargo xtask laws --cases {} --seed {seed}", laws.cases);
    println!("{command_line}");
    let mut report = Report::default();
    for (name, target) in [("outside", OUTSIDE), ("inside", INSIDE)] {
        let command = laws.command(workspace, target, seed);
        report.add(timed(name, || execute(command, Counts::Cargo)));
    }
    if report.has_failures() {
        println!("\nTo reproduce: {command_line}");
    }
    report
}

const OUTSIDE: &[&str] = &["--test", "laws"];
/// The name of every module with laws.
const INSIDE: &[&str] = &["--lib", "laws::"];

/// The time limit for shrinking a failing case, in milliseconds.
const SHRINKING: &str = "60000";

impl Laws {
    fn command(&self, workspace: &Workspace, target: &[&str], seed: u64) -> Command {
        let mut command = workspace.cargo(&["test", "--package=antiphon", "--release"]);
        command.args(["--no-fail-fast"]).args(target);
        command.env("PROPTEST_CASES", self.cases.to_string());
        // Some laws apply to some cases only and reject the others.
        command.env("PROPTEST_MAX_GLOBAL_REJECTS", self.cases.saturating_mul(4).to_string());
        command.env("PROPTEST_RNG_SEED", seed.to_string());
        command.env("PROPTEST_MAX_SHRINK_TIME", SHRINKING);
        command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
        command
    }
}
