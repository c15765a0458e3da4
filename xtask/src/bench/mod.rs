//! `cargo xtask bench`: what an item costs, by the clock and in instructions; and how much of a
//! conversation goes to a provider that keeps it; and what a repair costs in each language.

mod clock;
mod instructions;
mod packages;
mod table;

use std::process::{Command, ExitCode, Stdio};

use anyhow::ensure;
use clap::Args;

use self::table::Table;
use crate::tools::GUNGRAUN_RUNNER;
use crate::workspace::Workspace;

/// How much is measured.
#[derive(Args)]
pub(crate) struct Bench {
    /// Leave out the longest histories, and measure the others for a shorter time
    #[arg(long)]
    short: bool,
    /// Measure a repair in Rust and in the packages for Python and Node, and nothing else
    #[arg(long, conflicts_with = "short")]
    packages: bool,
}

/// What is measured: its name, and of how many items.
type Subject = (String, u64);

/// Runs the benchmarks and prints one table of both measurements, and one of what is sent.
pub(crate) fn run(workspace: &Workspace, bench: &Bench) -> anyhow::Result<ExitCode> {
    if bench.packages {
        println!("{}", packages::measured(workspace)?);
        return Ok(ExitCode::SUCCESS);
    }
    let timed = clock::read(&output(bench.by_the_clock(workspace))?);
    ensure!(!timed.is_empty(), "no benchmark by the clock was run");
    let counted = if has_valgrind(workspace) {
        instructions::read(&output(in_instructions(workspace)?)?)
    } else {
        println!("valgrind is not installed: no instructions are counted");
        Vec::new()
    };
    println!("{}", Table::of(timed, counted));
    println!("{}", output(cargo_bench(workspace, "sent"))?);
    Ok(ExitCode::SUCCESS)
}

impl Bench {
    fn by_the_clock(&self, workspace: &Workspace) -> Command {
        let mut command = cargo_bench(workspace, "speed");
        command.args(["--color=never", "--bytes-format=decimal"]);
        command.args(if self.short { &SHORT[..] } else { &LONG[..] });
        command
    }
}

/// For each benchmark so many seconds.
const SHORT: [&str; 3] = ["--max-time=0.2", "--skip", "100000"];
const LONG: [&str; 1] = ["--max-time=2"];

fn in_instructions(workspace: &Workspace) -> anyhow::Result<Command> {
    let mut command = cargo_bench(workspace, "instructions");
    command.env("GUNGRAUN_RUNNER", GUNGRAUN_RUNNER.installed(workspace)?);
    command.env("GUNGRAUN_COLOR", "never");
    Ok(command)
}

fn cargo_bench(workspace: &Workspace, name: &str) -> Command {
    workspace.cargo(&["bench", "--quiet", "--package=antiphon", "--bench", name, "--"])
}

/// What a command prints; what it says of its own goes to the terminal.
fn output(mut command: Command) -> anyhow::Result<String> {
    let output = command.stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "a benchmark failed\n{text}");
    Ok(text)
}

fn has_valgrind(workspace: &Workspace) -> bool {
    let mut valgrind = workspace.command("valgrind");
    valgrind.arg("--version").output().is_ok_and(|output| output.status.success())
}
