//! `cargo xtask laws`: the properties of the engine, on many more histories than a test run tries.

use std::hash::{BuildHasher as _, RandomState};
use std::process::Command;

use clap::Args;

use crate::report::Report;
use crate::run::{execute, timed};
use crate::tally::Counts;
use crate::workspace::Workspace;

/// How many histories, and which.
#[derive(Args)]
pub(crate) struct Laws {
    /// On how many generated cases each law is tried
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    cases: u32,
    /// The seed that the cases are made from; another one each time unless it is given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Tries the laws from outside the engine, then those beside its modules.
pub(crate) fn run(workspace: &Workspace, laws: &Laws) -> Report {
    let seed = laws.seed.unwrap_or_else(|| RandomState::new().hash_one("laws"));
    let again = format!("cargo xtask laws --cases {} --seed {seed}", laws.cases);
    println!("{again}");
    let mut report = Report::default();
    for (name, target) in [("outside", OUTSIDE), ("inside", INSIDE)] {
        let command = laws.command(workspace, target, seed);
        report.add(timed(name, || execute(command, Counts::Cargo)));
    }
    if report.has_failures() {
        println!("\nTo see it again: {again}");
    }
    report
}

const OUTSIDE: &[&str] = &["--test", "laws"];
/// Modules that hold laws are called so.
const INSIDE: &[&str] = &["--lib", "laws::"];

/// How long a failing case is made smaller, in milliseconds.
const SHRINKING: &str = "60000";

impl Laws {
    fn command(&self, workspace: &Workspace, target: &[&str], seed: u64) -> Command {
        let mut command = workspace.cargo(&["test", "--package=antiphon", "--release"]);
        command.args(["--no-fail-fast"]).args(target);
        command.env("PROPTEST_CASES", self.cases.to_string());
        // Some laws hold of some cases only, and pass over the others.
        command.env("PROPTEST_MAX_GLOBAL_REJECTS", self.cases.saturating_mul(4).to_string());
        command.env("PROPTEST_RNG_SEED", seed.to_string());
        command.env("PROPTEST_MAX_SHRINK_TIME", SHRINKING);
        command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
        command
    }
}
