//! The steps of `cargo xtask test`.

use std::thread;

use clap::ValueEnum;

use crate::chaos;
use crate::house;
use crate::instructions;
use crate::packages;
use crate::report::{Outcome, Report};
use crate::run::{execute, timed, timed_with};
use crate::scripts::{self, Suites};
use crate::semver;
use crate::tally::{Counts, Tally};
use crate::workspace::Workspace;

/// A step. Steps run in this order: those that fail fastest come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// Repository rules that no other tool checks
    Prose,
    /// The format, with rustfmt
    Fmt,
    /// The lints, with clippy
    Clippy,
    /// The installation of PostgreSQL for the tests
    Postgres,
    /// Unit, property, integration and documentation tests
    Test,
    /// The documentation, without warnings
    Doc,
    /// The public API of the libraries against the last release
    Semver,
    /// The instructions of a turn, against stored counts
    Instructions,
    /// The binaries for the following steps
    Build,
    /// The gateway's answers against its `OpenAPI` description
    Openapi,
    /// Web pages in Chromium against the gateway
    Browser,
    /// A gateway that is killed at random moments
    Chaos,
    /// The suites of real clients
    Clients,
    /// The packages for Python and Node, with every framework
    Packages,
}

impl Step {
    /// The chosen steps, or all steps if none is named. Tests and chaos also need PostgreSQL, and
    /// steps that run the binaries also need the build.
    pub(crate) fn chosen(only: &[Self]) -> Vec<Self> {
        let is_chosen = |step: &Self| {
            let is_needed = match step {
                Self::Postgres => only.contains(&Self::Test) || only.contains(&Self::Chaos),
                Self::Build => only.iter().any(|step| step.needs() == Some(Self::Build)),
                _ => false,
            };
            only.is_empty() || only.contains(step) || is_needed
        };
        Self::value_variants().iter().copied().filter(is_chosen).collect()
    }

    /// The name of the step in `--only`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Postgres => "postgres",
            Self::Test => "test",
            Self::Doc => "doc",
            Self::Semver => "semver",
            Self::Instructions => "instructions",
            Self::Build => "build",
            Self::Openapi => "openapi",
            Self::Browser => "browser",
            Self::Chaos => "chaos",
            Self::Clients => "clients",
            Self::Packages => "packages",
        }
    }

    /// The step without which this one cannot run.
    pub(crate) fn needs(self) -> Option<Self> {
        let starts_binaries =
            [Self::Openapi, Self::Browser, Self::Chaos, Self::Clients, Self::Packages];
        starts_binaries.contains(&self).then_some(Self::Build)
    }

    /// Runs the step of a run with these steps. Returns the number of passed and failed tests.
    fn run(self, workspace: &Workspace, steps: &[Self], suites: &Suites) -> anyhow::Result<Tally> {
        let cargo = |args: &[&str]| workspace.cargo(args);
        match self {
            Self::Prose => house::check(workspace),
            Self::Fmt => execute(cargo(&["fmt", "--all", "--check"]), Counts::None),
            Self::Clippy => execute(cargo(CLIPPY), Counts::None),
            Self::Postgres => execute(scripts::postgres(workspace), Counts::None),
            Self::Test => execute(cargo(TEST), Counts::Cargo),
            Self::Doc => {
                let mut doc = cargo(DOC);
                doc.env("RUSTDOCFLAGS", "-D warnings");
                execute(doc, Counts::None)
            }
            Self::Semver => semver::check(workspace),
            Self::Instructions => instructions::check(workspace),
            // With the features of the tests, whose libraries are built. A build of the binaries
            // alone has fewer features, and would build the libraries again.
            Self::Build if steps.contains(&Self::Test) => {
                execute(cargo(BUILD_WITH_TESTS), Counts::None)
            }
            Self::Build => execute(workspace.build_command(), Counts::None),
            Self::Openapi => execute(scripts::openapi(workspace), Counts::None),
            Self::Browser => execute(scripts::browser(workspace), Counts::None),
            Self::Chaos => chaos::run_in_tests(workspace),
            Self::Clients => execute(scripts::clients(workspace, suites), Counts::Suites),
            Self::Packages => packages::run_in_tests(workspace, &mut |line| println!("{line}")),
        }
    }
}

/// Runs every step, even if one fails, so that the report has all failures.
pub(crate) fn run_all(workspace: &Workspace, steps: &[Step], suites: &Suites) -> Report {
    let mut report = Report::default();
    for &step in steps {
        if report.contains(step.name()) {
            continue;
        }
        let is_ready = step.needs().is_none_or(|needed| !report.has_failed(needed.name()));
        let run = || match is_ready {
            true => step.run(workspace, steps, suites),
            false => anyhow::bail!("not run: the build failed"),
        };
        if step == Step::Clients && steps.contains(&Step::Packages) && is_ready {
            for outcome in run_beside_packages(workspace, run) {
                report.add(outcome);
            }
        } else {
            report.add(timed(step.name(), run));
        }
    }
    report
}

/// Runs the suites of clients and the package tests at the same time, because each mostly waits for
/// installations and for other processes. The output of the package tests comes at their end.
fn run_beside_packages(
    workspace: &Workspace,
    run_clients: impl FnOnce() -> anyhow::Result<Tally>,
) -> [Outcome; 2] {
    thread::scope(|scope| {
        let packages = scope.spawn(|| {
            let mut lines = Vec::new();
            let mut keep = |line: &str| lines.push(line.to_owned());
            let outcome = timed_with(Step::Packages.name(), &mut keep, |print| {
                packages::run_in_tests(workspace, print)
            });
            (outcome, lines)
        });
        let clients = timed(Step::Clients.name(), run_clients);
        let (packages, lines) = packages.join().expect("the thread does not panic");
        for line in lines {
            println!("{line}");
        }
        [clients, packages]
    })
}

const CLIPPY: &[&str] = &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
const TEST: &[&str] = &["test", "--workspace", "--no-fail-fast"];
const BUILD_WITH_TESTS: &[&str] = &["build", "--workspace", "--bins", "--tests", "--quiet"];
const DOC: &[&str] = &["doc", "--workspace", "--no-deps"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_runs_by_default() {
        assert_eq!(Step::chosen(&[]), Step::value_variants());
    }

    #[test]
    fn tests_need_postgres() {
        assert_eq!(Step::chosen(&[Step::Test]), [Step::Postgres, Step::Test]);
    }

    #[test]
    fn binary_steps_need_the_build() {
        assert_eq!(Step::chosen(&[Step::Clients]), [Step::Build, Step::Clients]);
        assert_eq!(Step::chosen(&[Step::Packages]), [Step::Build, Step::Packages]);
        assert_eq!(Step::chosen(&[Step::Openapi]), [Step::Build, Step::Openapi]);
        assert_eq!(Step::chosen(&[Step::Browser]), [Step::Build, Step::Browser]);
        assert_eq!(Step::chosen(&[Step::Chaos]), [Step::Postgres, Step::Build, Step::Chaos]);
        assert_eq!(Step::chosen(&[Step::Doc, Step::Fmt]), [Step::Fmt, Step::Doc]);
    }

    #[test]
    fn step_names_equal_only_values() {
        for step in Step::value_variants() {
            let value = step.to_possible_value().unwrap();
            assert_eq!(value.get_name(), step.name());
        }
    }
}
