//! What the steps came to.

use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

use crate::step::Step;
use crate::tally::Tally;

/// What one step came to.
pub(crate) struct Outcome {
    pub(crate) step: Step,
    pub(crate) tally: Tally,
    pub(crate) took: Duration,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, Tally { passed, failed }) = (self.step.name(), self.tally);
        let verdict = if failed == 0 { "ok" } else { "FAILED" };
        let seconds = self.took.as_secs_f64();
        write!(f, "{name:<8} {verdict:<6} {passed:>6} passed {failed:>4} failed {seconds:>8.1} s")
    }
}

/// What all steps came to. Its last line is the sum, alone.
#[derive(Default)]
pub(crate) struct Report(Vec<Outcome>);

impl Report {
    pub(crate) fn add(&mut self, outcome: Outcome) {
        self.0.push(outcome);
    }

    pub(crate) fn has_failed(&self, step: Step) -> bool {
        self.0.iter().any(|outcome| outcome.step == step && outcome.tally.failed > 0)
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(self.total().failed > 0))
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
    fn the_last_line_is_the_sum_of_the_steps_alone() {
        let mut report = Report::default();
        let steps = [(Step::Fmt, 1, 0), (Step::Test, 40, 2), (Step::Clients, 7, 0)];
        for (step, passed, failed) in steps {
            let tally = Tally { passed, failed };
            report.add(Outcome { step, tally, took: Duration::from_millis(1250) });
        }
        let text = report.to_string();
        assert_eq!(text.lines().last(), Some("48 passed, 2 failed"));
        assert!(text.contains("\ntest     FAILED     40 passed    2 failed"), "{text}");
        assert!(report.has_failed(Step::Test));
        assert!(!report.has_failed(Step::Fmt));
    }
}
