//! The results of a task.

use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

use crate::tally::Tally;

/// The result of one part of a task.
pub(crate) struct Outcome {
    pub(crate) name: &'static str,
    pub(crate) tally: Tally,
    pub(crate) took: Duration,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, tally: Tally { passed, failed, .. }, took } = self;
        let verdict = if *failed == 0 { "ok" } else { "FAILED" };
        let seconds = took.as_secs_f64();
        write!(f, "{name:<10} {verdict:<6} {passed:>6} passed {failed:>4} failed {seconds:>8.1} s")
    }
}

/// The results of all parts. Failed tests come first, and the last line has only the sum.
#[derive(Default)]
pub(crate) struct Report(Vec<Outcome>);

impl Report {
    pub(crate) fn add(&mut self, outcome: Outcome) {
        self.0.push(outcome);
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|outcome| outcome.name == name)
    }

    pub(crate) fn has_failed(&self, name: &str) -> bool {
        self.0.iter().any(|outcome| outcome.name == name && outcome.tally.failed > 0)
    }

    pub(crate) fn has_failures(&self) -> bool {
        self.total().1 > 0
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(self.has_failures()))
    }

    /// The numbers of passed and of failed tests.
    fn total(&self) -> (usize, usize) {
        let tallies = || self.0.iter().map(|outcome| &outcome.tally);
        (tallies().map(|it| it.passed).sum(), tallies().map(|it| it.failed).sum())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Outcome { name, tally, .. } in &self.0 {
            if tally.failed > 0 && !tally.failures.is_empty() {
                writeln!(f, "\nfailed in {name}:\n{}", tally.failures.join("\n"))?;
            }
        }
        writeln!(f)?;
        for outcome in &self.0 {
            writeln!(f, "{outcome}")?;
        }
        let (passed, failed) = self.total();
        write!(f, "\n{passed} passed, {failed} failed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tests_come_first_and_the_sum_last() {
        let mut report = Report::default();
        let parts = [("fmt", 1, 0), ("test", 40, 2), ("clients", 7, 0)];
        for (name, passed, failed) in parts {
            let failures = (failed > 0).then(|| "---- a stdout ----".to_owned());
            let tally = Tally { passed, failed, failures: failures.into_iter().collect() };
            report.add(Outcome { name, tally, took: Duration::from_millis(1250) });
        }
        let text = report.to_string();
        assert!(text.starts_with("\nfailed in test:\n---- a stdout ----\n\nfmt "), "{text}");
        assert_eq!(text.lines().last(), Some("48 passed, 2 failed"));
        assert!(text.contains("\ntest       FAILED     40 passed    2 failed"), "{text}");
        assert!(report.has_failed("test"));
        assert!(!report.has_failed("fmt"));
    }
}
