//! The project's own commands: `cargo xtask test` and what takes longer than it may.

mod bench;
mod browser;
mod chaos;
mod clients;
mod faults;
mod fuzz;
mod house;
mod laws;
mod memory;
mod openapi;
mod packages;
mod postgres;
mod promises;
mod report;
mod run;
mod step;
mod streams;
mod tally;
mod tools;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::bench::Bench;
use crate::chaos::Chaos;
use crate::clients::Suites;
use crate::faults::Faults;
use crate::fuzz::Fuzz;
use crate::laws::Laws;
use crate::memory::Memory;
use crate::packages::Packages;
use crate::report::Report;
use crate::step::Step;
use crate::streams::Streams;
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
    /// The packages for Python and Node, with every framework
    Packages(Packages),
    /// A gateway that is killed at random moments, and what it promised
    Chaos(Chaos),
    /// Fuzz targets, each for a while
    Fuzz(Fuzz),
    /// The property tests of the engine, on many more cases
    Laws(Laws),
    /// What comes of every fault, against the tables in FAULTS.md
    Faults(Faults),
    /// What an item costs, by the clock and in instructions
    Bench(Bench),
    /// What open streams cost a gateway
    Streams(Streams),
    /// What hostile loads cost a gateway in memory
    Memory(Memory),
}

fn main() -> anyhow::Result<ExitCode> {
    let workspace = Workspace::find()?;
    let report = match CommandLine::parse().task {
        Task::Test { only, long } => run::all(&workspace, &Step::chosen(&only), &Suites::all(long)),
        Task::Clients { suites } => run::all(&workspace, &[Step::Build, Step::Clients], &suites),
        Task::Packages(packages) => packages::run(&workspace, &packages),
        Task::Chaos(chaos) => chaos::run(&workspace, &chaos),
        Task::Fuzz(fuzz) => fuzz::run(&workspace, &fuzz)?,
        Task::Laws(laws) => laws::run(&workspace, &laws),
        Task::Faults(faults) => faults::run(&workspace, &faults),
        Task::Bench(bench) => return bench::run(&workspace, &bench),
        Task::Memory(memory) => return memory::run(&workspace, &memory),
        Task::Streams(streams) => return streams::run(&workspace, &streams),
    };
    Ok(shown(&report))
}

fn shown(report: &Report) -> ExitCode {
    println!("{report}");
    report.exit_code()
}
