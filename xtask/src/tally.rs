//! Test counts, parsed from the output of a step.

use std::ops::AddAssign;

/// The number of passed and of failed tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Tally {
    /// A step that counts as one test.
    pub(crate) fn one(passed: bool) -> Self {
        Self { passed: usize::from(passed), failed: usize::from(!passed) }
    }

    /// Combines the counts of a step with its exit status. A step without counts is one test. A
    /// step that fails without a failed test, for example because it did not compile, adds one
    /// failure.
    pub(crate) fn from_step(counted: Self, succeeded: bool) -> Self {
        match (counted, succeeded) {
            (Self { passed: 0, failed: 0 }, _) => Self::one(succeeded),
            (Self { passed, failed: 0 }, false) => Self { passed, failed: 1 },
            _ => counted,
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
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
        Some(Tally { passed: number(passed, " passed")?, failed: number(failed, " failed")? })
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
        assert_eq!(Counts::Cargo.parse_line(line), Some(Tally { passed: 13, failed: 0 }));
        let line = "test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 0 filtered \
                    out; finished in 1.20s";
        assert_eq!(Counts::Cargo.parse_line(line), Some(Tally { passed: 2, failed: 3 }));
        assert_eq!(Counts::Cargo.parse_line("test result_of_a_turn ... ok"), None);
    }

    #[test]
    fn suite_counts_are_parsed_from_one_line() {
        let line = "60 passed, 2 failed";
        assert_eq!(Counts::Suites.parse_line(line), Some(Tally { passed: 60, failed: 2 }));
        assert_eq!(Counts::Suites.parse_line("58 passed, 2 failed in 4.20s"), None);
        assert_eq!(Counts::Suites.parse_line("2 failed, 58 passed in 4.20s"), None);
    }

    #[test]
    fn step_without_counts_is_one_test() {
        assert_eq!(Tally::from_step(Tally::default(), true), Tally { passed: 1, failed: 0 });
        assert_eq!(Tally::from_step(Tally::default(), false), Tally { passed: 0, failed: 1 });
    }

    #[test]
    fn failure_without_failed_test_is_counted() {
        let counted = Tally { passed: 7, failed: 0 };
        assert_eq!(Tally::from_step(counted, false), Tally { passed: 7, failed: 1 });
        let counted = Tally { passed: 7, failed: 2 };
        assert_eq!(Tally::from_step(counted, false), counted);
    }
}
