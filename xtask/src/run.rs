//! Runs steps and their commands.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context as _;

use crate::failures::Failures;
use crate::report::Outcome;
use crate::tally::{Counts, Tally};

/// Runs one part of a task and measures its time. An error counts as a failure.
pub(crate) fn timed(name: &'static str, run: impl FnOnce() -> anyhow::Result<Tally>) -> Outcome {
    timed_with(name, &mut |line| println!("{line}"), |_| run())
}

/// Runs one part of a task, with a function that prints its lines.
pub(crate) fn timed_with(
    name: &'static str,
    print: &mut dyn FnMut(&str),
    run: impl FnOnce(&mut dyn FnMut(&str)) -> anyhow::Result<Tally>,
) -> Outcome {
    print(&format!("\n==> {name}"));
    let started = Instant::now();
    let tally = run(print).unwrap_or_else(|error| {
        print(&format!("{error:#}"));
        Tally::one(false)
    });
    let outcome = Outcome { name, tally, took: started.elapsed() };
    print(&format!("<== {outcome}"));
    outcome
}

/// Runs a command, prints its output as it arrives, and adds up the test counts in it.
pub(crate) fn execute(command: Command, counts: Counts) -> anyhow::Result<Tally> {
    execute_with(command, counts, &mut |line| println!("{line}"))
}

/// Runs a command, passes its output line by line to `print`, and adds up the test counts in it.
/// Keeps the output about failed tests.
pub(crate) fn execute_with(
    mut command: Command,
    counts: Counts,
    print: &mut dyn FnMut(&str),
) -> anyhow::Result<Tally> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not run {program}"))?;
    let output = child.stdout.take().context("the standard output was not piped")?;
    let mut counted = Tally::default();
    let mut failures = Failures::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        print(&line);
        counted += counts.parse_line(line.trim_end()).unwrap_or_default();
        failures.read(line.trim_end());
    }
    counted.failures = failures.into_lines();
    let status = child.wait()?;
    Ok(Tally::from_step(counted, status.success()))
}
