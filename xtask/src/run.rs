//! Runs steps and the commands that they consist of.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context as _;

use crate::clients::Suites;
use crate::report::{Outcome, Report};
use crate::step::Step;
use crate::tally::{Counts, Tally};
use crate::workspace::Workspace;

/// Runs every step, also after one has failed: the report then names all that is to be mended.
pub(crate) fn all(workspace: &Workspace, steps: &[Step], suites: &Suites) -> Report {
    let mut report = Report::default();
    for &step in steps {
        let outcome = timed(step.name(), || {
            match step.needs().filter(|needed| report.has_failed(needed.name())) {
                Some(needed) => anyhow::bail!("not run: {} failed", needed.name()),
                None => step.run(workspace, suites),
            }
        });
        report.add(outcome);
    }
    report
}

/// Runs one part of a task. What keeps it from running is a failure of it.
pub(crate) fn timed(name: &'static str, run: impl FnOnce() -> anyhow::Result<Tally>) -> Outcome {
    println!("\n==> {name}");
    let started = Instant::now();
    let tally = run().unwrap_or_else(|error| {
        println!("{error:#}");
        Tally::one(false)
    });
    let outcome = Outcome { name, tally, took: started.elapsed() };
    println!("<== {outcome}");
    outcome
}

/// Runs a command, shows what it prints as it prints it, and adds up the counts in it.
pub(crate) fn execute(mut command: Command, counts: Counts) -> anyhow::Result<Tally> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{program} cannot be run"))?;
    let output = child.stdout.take().context("its output was not piped")?;
    let mut counted = Tally::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counted += counts.of_line(line.trim_end()).unwrap_or_default();
    }
    let status = child.wait()?;
    Ok(Tally::of_step(counted, status.success()))
}
