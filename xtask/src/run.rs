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
        println!("\n==> {}", step.name());
        let outcome = outcome(workspace, step, suites, &report);
        println!("<== {outcome}");
        report.add(outcome);
    }
    report
}

fn outcome(workspace: &Workspace, step: Step, suites: &Suites, report: &Report) -> Outcome {
    let started = Instant::now();
    let tally = match step.needs().filter(|needed| report.has_failed(*needed)) {
        Some(needed) => {
            println!("not run: {} failed", needed.name());
            Tally::one(false)
        }
        None => step.run(workspace, suites).unwrap_or_else(|error| {
            println!("{error:#}");
            Tally::one(false)
        }),
    };
    Outcome { step, tally, took: started.elapsed() }
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
