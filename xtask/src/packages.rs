//! `cargo xtask packages`: builds the packages for Python and Node as for a release, and tests them
//! with every framework.

use std::process::Command;

use clap::Args;

use crate::report::Report;
use crate::run::{execute, execute_with, timed};
use crate::tally::{Counts, Tally};
use crate::workspace::Workspace;

/// The package tests to run.
#[derive(Args, Default)]
pub(crate) struct Packages {
    /// Run only this suite: artefacts, python, node or deploy; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Run only tests whose names match
    #[arg(long, value_name = "EXPRESSION")]
    keyword: Option<String>,
}

/// Builds the provider for the tests, then the packages, and runs the tests.
pub(crate) fn run(workspace: &Workspace, packages: &Packages) -> Report {
    let mut report = Report::default();
    report.add(timed("build", || execute(workspace.build_command(), Counts::None)));
    if !report.has_failures() {
        report.add(timed("packages", || packages.run(workspace)));
    }
    report
}

/// Runs the package tests of a test run, and passes their output line by line to `print`.
pub(crate) fn run_in_tests(
    workspace: &Workspace,
    print: &mut dyn FnMut(&str),
) -> anyhow::Result<Tally> {
    execute_with(Packages::default().command(workspace), Counts::Suites, print)
}

impl Packages {
    fn run(&self, workspace: &Workspace) -> anyhow::Result<Tally> {
        execute(self.command(workspace), Counts::Suites)
    }

    /// The command that builds the packages, installs the frameworks, and runs the tests.
    fn command(&self, workspace: &Workspace) -> Command {
        let mut command = workspace.command("python3");
        command.arg("tests/packages/run.py");
        command.arg("--antiphon").arg(workspace.binary("antiphon"));
        command.arg("--build-dir").arg(workspace.target.join("packages"));
        command.arg("--clients-dir").arg(workspace.target.join("clients"));
        for name in &self.only {
            command.arg("--only").arg(name);
        }
        if let Some(expression) = &self.keyword {
            command.arg("--keyword").arg(expression);
        }
        command
    }
}
