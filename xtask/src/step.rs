//! The steps of `cargo xtask test`.

use clap::ValueEnum;

use crate::browser;
use crate::chaos;
use crate::clients::{self, Suites};
use crate::house;
use crate::openapi;
use crate::packages;
use crate::postgres;
use crate::run::execute;
use crate::tally::{Counts, Tally};
use crate::workspace::Workspace;

/// A step, in the order in which they run: what fails soonest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// The house rules that no other tool checks
    Prose,
    /// rustfmt finds nothing to change
    Fmt,
    /// clippy finds nothing to say
    Clippy,
    /// The PostgreSQL that tests start is installed
    Postgres,
    /// Unit, property, integration and documentation tests
    Test,
    /// The documentation builds without a warning
    Doc,
    /// The binaries that the steps behind this one start
    Build,
    /// A gateway answers as its description says
    Openapi,
    /// Web pages in Chromium reach nothing that they may not
    Browser,
    /// A gateway that is killed at random moments keeps its promises
    Chaos,
    /// The suites of real clients
    Clients,
    /// The packages for Python and Node, with every framework
    Packages,
}

impl Step {
    /// The steps of these, all of them if none is named. The tests and the chaos bring their
    /// PostgreSQL along, what runs the binaries the build.
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

    /// What `--only` calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Postgres => "postgres",
            Self::Test => "test",
            Self::Doc => "doc",
            Self::Build => "build",
            Self::Openapi => "openapi",
            Self::Browser => "browser",
            Self::Chaos => "chaos",
            Self::Clients => "clients",
            Self::Packages => "packages",
        }
    }

    /// The step whose failure leaves this one nothing to run.
    pub(crate) fn needs(self) -> Option<Self> {
        let starts_binaries =
            [Self::Openapi, Self::Browser, Self::Chaos, Self::Clients, Self::Packages];
        starts_binaries.contains(&self).then_some(Self::Build)
    }

    /// Runs the step; says what passed and what failed.
    pub(crate) fn run(self, workspace: &Workspace, suites: &Suites) -> anyhow::Result<Tally> {
        let cargo = |args: &[&str]| workspace.cargo(args);
        match self {
            Self::Prose => house::check(workspace),
            Self::Fmt => execute(cargo(&["fmt", "--all", "--check"]), Counts::None),
            Self::Clippy => execute(cargo(CLIPPY), Counts::None),
            Self::Postgres => execute(postgres::command(workspace), Counts::None),
            Self::Test => execute(cargo(TEST), Counts::Cargo),
            Self::Doc => {
                let mut doc = cargo(DOC);
                doc.env("RUSTDOCFLAGS", "-D warnings");
                execute(doc, Counts::None)
            }
            Self::Build => execute(cargo(BUILD), Counts::None),
            Self::Openapi => execute(openapi::command(workspace), Counts::None),
            Self::Browser => execute(browser::command(workspace), Counts::None),
            Self::Chaos => chaos::of_tests(workspace),
            Self::Clients => execute(clients::command(workspace, suites), Counts::Suites),
            Self::Packages => packages::of_tests(workspace),
        }
    }
}

const CLIPPY: &[&str] = &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
const TEST: &[&str] = &["test", "--workspace", "--no-fail-fast"];
const DOC: &[&str] = &["doc", "--workspace", "--no-deps"];
const BUILD: &[&str] = &[
    "build",
    "--package=antiphon-cli",
    "--bin=antiphon",
    "--package=antiphon-testkit",
    "--bin=fake-upstream",
    "--package=antiphon-chaos",
    "--bin=antiphon-chaos",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_choice_every_step_runs() {
        assert_eq!(Step::chosen(&[]), Step::value_variants());
    }

    #[test]
    fn the_tests_bring_their_postgresql_along() {
        assert_eq!(Step::chosen(&[Step::Test]), [Step::Postgres, Step::Test]);
    }

    #[test]
    fn what_runs_the_binaries_brings_the_build_along() {
        assert_eq!(Step::chosen(&[Step::Clients]), [Step::Build, Step::Clients]);
        assert_eq!(Step::chosen(&[Step::Packages]), [Step::Build, Step::Packages]);
        assert_eq!(Step::chosen(&[Step::Openapi]), [Step::Build, Step::Openapi]);
        assert_eq!(Step::chosen(&[Step::Browser]), [Step::Build, Step::Browser]);
        assert_eq!(Step::chosen(&[Step::Chaos]), [Step::Postgres, Step::Build, Step::Chaos]);
        assert_eq!(Step::chosen(&[Step::Doc, Step::Fmt]), [Step::Fmt, Step::Doc]);
    }

    #[test]
    fn a_step_is_named_as_only_names_it() {
        for step in Step::value_variants() {
            let value = step.to_possible_value().unwrap();
            assert_eq!(value.get_name(), step.name());
        }
    }
}
