//! Test counts, parsed from the output of a step.

use std::ops::AddAssign;

/// The number of passed and of failed tests, with the output about the failed ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) failures: Vec<String>,
}

impl Tally {
    pub(crate) fn new(passed: usize, failed: usize) -> Self {
        Self { passed, failed, failures: Vec::new() }
    }

    /// A step that counts as one test.
    pub(crate) fn one(passed: bool) -> Self {
        Self::new(usize::from(passed), usize::from(!passed))
    }

    /// Combines the counts of a step with its exit status. A step without counts is one test. A
    /// step that fails without a failed test, for example because it did not compile, adds one
    /// failure.
    pub(crate) fn from_step(counted: Self, succeeded: bool) -> Self {
        match (counted.passed, counted.failed, succeeded) {
            (0, 0, _) => Self::one(succeeded),
            (_, 0, false) => Self { failed: 1, ..counted },
            _ => counted,
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.failures.extend(other.failures);
    }
}

/// The form of the counts in a step's output.
#[derive(Clone, Copy)]
pub(crate) enum Counts {
    /// The step prints no counts.
    None,
    /// Each test binary prints `test result: ok. N passed; N failed; …`.
    Cargo,
    /// The suites print `N passed, N failed` once.
    Suites,
}

impl Counts {
    /// Parses the counts in a line of output.
    pub(crate) fn parse_line(self, line: &str) -> Option<Tally> {
        let (passed, failed) = match self {
            Self::None => return None,
            Self::Cargo => {
                let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
                let mut counts = counts.split("; ");
                (counts.next()?, counts.next()?)
            }
            Self::Suites => line.split_once(", ")?,
        };
        Some(Tally::new(number(passed, " passed")?, number(failed, " failed")?))
    }
}

fn number(text: &str, what: &str) -> Option<usize> {
    text.strip_suffix(what)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_counts_are_parsed_per_binary() {
        let line = "test result: ok. 13 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; \
                    finished in 0.00s";
        assert_eq!(Counts::Cargo.parse_line(line), Some(Tally::new(13, 0)));
        let line = "test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 0 filtered \
                    out; finished in 1.20s";
        assert_eq!(Counts::Cargo.parse_line(line), Some(Tally::new(2, 3)));
        assert_eq!(Counts::Cargo.parse_line("test result_of_a_turn ... ok"), None);
    }

    #[test]
    fn suite_counts_are_parsed_from_one_line() {
        let line = "60 passed, 2 failed";
        assert_eq!(Counts::Suites.parse_line(line), Some(Tally::new(60, 2)));
        assert_eq!(Counts::Suites.parse_line("58 passed, 2 failed in 4.20s"), None);
        assert_eq!(Counts::Suites.parse_line("2 failed, 58 passed in 4.20s"), None);
    }

    #[test]
    fn step_without_counts_is_one_test() {
        assert_eq!(Tally::from_step(Tally::default(), true), Tally::new(1, 0));
        assert_eq!(Tally::from_step(Tally::default(), false), Tally::new(0, 1));
    }

    #[test]
    fn failure_without_failed_test_is_counted() {
        assert_eq!(Tally::from_step(Tally::new(7, 0), false), Tally::new(7, 1));
        assert_eq!(Tally::from_step(Tally::new(7, 2), false), Tally::new(7, 2));
    }
}
