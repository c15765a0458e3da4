//! The failed tests in the output of a step. The report repeats them, because its end is the part
//! of a long output that people read, and that a CI keeps.

/// The lines about failed tests, at most [`MAX_LINES`].
#[derive(Default)]
pub(crate) struct Failures {
    lines: Vec<String>,
    is_inside_block: bool,
}

const MAX_LINES: usize = 200;

impl Failures {
    /// Reads the next line of the output.
    pub(crate) fn read(&mut self, line: &str) {
        match line {
            "failures:" => self.is_inside_block = true,
            _ if line.starts_with("test result: ") => self.is_inside_block = false,
            _ if self.is_inside_block || names_failed_test(line) => self.keep(line),
            _ => {}
        }
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines
    }

    fn keep(&mut self, line: &str) {
        if !line.is_empty() && self.lines.len() < MAX_LINES {
            self.lines.push(line.to_owned());
        }
    }
}

/// Whether this line is from the summary of pytest or from Node's test runner, and names a failed
/// test. The test harness of Rust prints a block instead.
fn names_failed_test(line: &str) -> bool {
    ["FAILED ", "ERROR ", "✖ "].iter().any(|start| line.trim_start().starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(output: &str) -> Vec<String> {
        let mut failures = Failures::default();
        output.lines().for_each(|line| failures.read(line));
        failures.into_lines()
    }

    #[test]
    fn blocks_of_rust_tests_are_kept() {
        let output = "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\n\
                      left: 1\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed;\n\
                      test c ... ok";
        assert_eq!(lines(output), ["---- b stdout ----", "left: 1", "    b"]);
    }

    #[test]
    fn names_in_other_summaries_are_kept() {
        let output =
            "..F\nFAILED tests/a.py::test_b - assert 1 == 2\n✔ fine (1 ms)\n  ✖ broken (2 ms)";
        let expected = ["FAILED tests/a.py::test_b - assert 1 == 2", "  ✖ broken (2 ms)"];
        assert_eq!(lines(output), expected);
    }

    #[test]
    fn kept_lines_are_bounded() {
        let output = "failures:\n".to_owned() + &"line\n".repeat(2 * MAX_LINES);
        assert_eq!(lines(&output).len(), MAX_LINES);
    }
}
