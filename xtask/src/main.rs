//! The project's own commands: `cargo xtask test`, and tasks that take longer.

mod bench;
mod chaos;
mod cold_build;
mod doctests;
mod failures;
mod faults;
mod fuzz;
mod guarantees;
mod harness;
mod house;
mod instructions;
mod laws;
mod layers;
mod measurements;
mod modules;
mod optimize;
mod packages;
mod references;
mod report;
mod run;
mod scripts;
mod semver;
mod size;
mod step;
mod tally;
mod tools;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::bench::Bench;
use crate::chaos::Chaos;
use crate::faults::Faults;
use crate::fuzz::Fuzz;
use crate::instructions::Instructions;
use crate::laws::Laws;
use crate::measurements::Memory;
use crate::optimize::Optimize;
use crate::packages::Packages;
use crate::report::Report;
use crate::scripts::Suites;
use crate::size::Size;
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
    /// Run all checks: repository rules, format, lints, tests, documentation, real clients
    Test {
        /// Run only this step; may be repeated
        #[arg(long, value_enum, value_name = "STEP")]
        only: Vec<Step>,
        /// Run the client suites in every combination
        #[arg(long)]
        long: bool,
    },
    /// Run the suites of real clients against the gateway
    Clients {
        #[command(flatten)]
        suites: Suites,
    },
    /// Test the packages for Python and Node with every framework
    Packages(Packages),
    /// Kill a gateway at random moments and check its guarantees
    Chaos(Chaos),
    /// Run the fuzz targets, each for a while
    Fuzz(Fuzz),
    /// Run the engine's property tests on many more cases
    Laws(Laws),
    /// Compare the outcome of every fault with the tables in FAULTS.md
    Faults(Faults),
    /// Count the instructions of a turn and compare them with the stored counts
    Instructions(Instructions),
    /// Measure the cost of an item in time and in instructions
    Bench(Bench),
    /// Measure the memory of a gateway under hostile loads
    Memory(Memory),
    /// Build the release binary twice: the second build is optimized for the turns of a load
    Optimize(Optimize),
    /// Print the size of the release binary, and compare it with its bound
    Size(Size),
}

fn main() -> anyhow::Result<ExitCode> {
    let workspace = Workspace::find()?;
    let report = match CommandLine::parse().task {
        Task::Test { only, long } => {
            step::run_all(&workspace, &Step::chosen(&only), &Suites::all(long))
        }
        Task::Clients { suites } => {
            step::run_all(&workspace, &[Step::Build, Step::Clients], &suites)
        }
        Task::Packages(packages) => packages::run(&workspace, &packages),
        Task::Chaos(chaos) => chaos::run(&workspace, &chaos),
        Task::Fuzz(fuzz) => fuzz::run(&workspace, &fuzz)?,
        Task::Laws(laws) => laws::run(&workspace, &laws),
        Task::Faults(faults) => faults::run(&workspace, &faults),
        Task::Instructions(instructions) => instructions::run(&workspace, &instructions),
        Task::Size(size) => size::run(&workspace, &size),
        Task::Bench(bench) => return bench::run(&workspace, &bench),
        Task::Optimize(optimize) => return optimize::run(&workspace, &optimize),
        Task::Memory(memory) => return measurements::measure_memory(&workspace, &memory),
    };
    Ok(print(&report))
}

fn print(report: &Report) -> ExitCode {
    println!("{report}");
    report.exit_code()
}
