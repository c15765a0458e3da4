//! `cargo xtask bench`: the cost of an item in time and in instructions, the share of a
//! conversation that is sent to a stateful provider, and the cost of a repair in each language.

mod clock;
mod gateway;
mod instructions;
mod packages;
mod table;

use std::process::{Command, ExitCode, Stdio};

use anyhow::ensure;
use clap::Args;

use self::gateway::GatewayLoad;
use self::table::Table;
use crate::tools::{GUNGRAUN_RUNNER, has_valgrind};
use crate::workspace::Workspace;

/// The extent of the measurement.
#[derive(Args)]
pub(crate) struct Bench {
    /// Leave out the longest histories, and measure the others for a shorter time
    #[arg(long)]
    short: bool,
    /// Measure a repair in Rust and in the packages for Python and Node, and nothing else
    #[arg(long, conflicts_with = "short")]
    packages: bool,
    #[command(flatten)]
    gateway: GatewayLoad,
}

/// The name of a benchmark and its number of items.
type Subject = (String, u64);

/// Runs the benchmarks and prints a table of time and instructions, and a table of sent items.
pub(crate) fn run(workspace: &Workspace, bench: &Bench) -> anyhow::Result<ExitCode> {
    if bench.gateway.is_chosen() {
        return bench.gateway.measure(workspace, bench.short);
    }
    if bench.packages {
        println!("{}", packages::measure(workspace)?);
        return Ok(ExitCode::SUCCESS);
    }
    let timed = clock::read(&output(bench.speed_command(workspace))?);
    ensure!(!timed.is_empty(), "no time benchmark was run");
    let counted = if has_valgrind(workspace) {
        instructions::read(&output(instructions_command(workspace)?)?)
    } else {
        println!("valgrind is not installed: instructions are not counted");
        Vec::new()
    };
    println!("{}", Table::new(timed, counted));
    println!("{}", output(cargo_bench(workspace, "sent"))?);
    Ok(ExitCode::SUCCESS)
}

impl Bench {
    fn speed_command(&self, workspace: &Workspace) -> Command {
        let mut command = cargo_bench(workspace, "speed");
        command.args(["--color=never", "--bytes-format=decimal"]);
        command.args(if self.short { &SHORT[..] } else { &LONG[..] });
        command
    }
}

/// The arguments to divan. The time limit is for each benchmark.
const SHORT: [&str; 3] = ["--max-time=0.2", "--skip", "100000"];
const LONG: [&str; 1] = ["--max-time=2"];

fn instructions_command(workspace: &Workspace) -> anyhow::Result<Command> {
    let mut command = cargo_bench(workspace, "instructions");
    command.env("GUNGRAUN_RUNNER", GUNGRAUN_RUNNER.install(workspace)?);
    command.env("GUNGRAUN_COLOR", "never");
    Ok(command)
}

fn cargo_bench(workspace: &Workspace, name: &str) -> Command {
    workspace.cargo(&["bench", "--quiet", "--package=antiphon", "--bench", name, "--"])
}

/// Runs a command and returns its standard output. Its standard error goes to the terminal.
fn output(mut command: Command) -> anyhow::Result<String> {
    let output = command.stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "a benchmark failed\n{text}");
    Ok(text)
}
