//! The project's own commands: `cargo xtask test` and `cargo xtask clients`.

mod clients;
mod house;
mod report;
mod run;
mod step;
mod tally;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::clients::Suites;
use crate::step::Step;
use crate::workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own commands")]
struct CommandLine {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must hold: house rules, format, lints, tests, documentation, real clients
    Test {
        /// Run only this step; may be repeated
        #[arg(long, value_enum, value_name = "STEP")]
        only: Vec<Step>,
        /// Run the client suites in every combination
        #[arg(long)]
        long: bool,
    },
    /// The suites of real clients against the gateway
    Clients {
        #[command(flatten)]
        suites: Suites,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    let workspace = Workspace::find()?;
    let (steps, suites) = match CommandLine::parse().task {
        Task::Test { only, long } => (Step::chosen(&only), Suites::all(long)),
        Task::Clients { suites } => (vec![Step::Build, Step::Clients], suites),
    };
    let report = run::all(&workspace, &steps, &suites);
    println!("{report}");
    Ok(report.exit_code())
}
