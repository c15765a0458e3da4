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
        let Self { name, tally: Tally { passed, failed }, .. } = *self;
        let verdict = if failed == 0 { "ok" } else { "FAILED" };
        let seconds = self.took.as_secs_f64();
        write!(f, "{name:<10} {verdict:<6} {passed:>6} passed {failed:>4} failed {seconds:>8.1} s")
    }
}

/// The results of all parts. The last line has only the sum.
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
        self.total().failed > 0
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(self.has_failures()))
    }

    fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.0.iter().for_each(|outcome| total += outcome.tally);
        total
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        for outcome in &self.0 {
            writeln!(f, "{outcome}")?;
        }
        let Tally { passed, failed } = self.total();
        write!(f, "\n{passed} passed, {failed} failed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_line_is_the_sum() {
        let mut report = Report::default();
        let parts = [("fmt", 1, 0), ("test", 40, 2), ("clients", 7, 0)];
        for (name, passed, failed) in parts {
            let tally = Tally { passed, failed };
            report.add(Outcome { name, tally, took: Duration::from_millis(1250) });
        }
        let text = report.to_string();
        assert_eq!(text.lines().last(), Some("48 passed, 2 failed"));
        assert!(text.contains("\ntest       FAILED     40 passed    2 failed"), "{text}");
        assert!(report.has_failed("test"));
        assert!(!report.has_failed("fmt"));
    }
}
