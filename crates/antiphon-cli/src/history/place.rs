//! Positions in a file.

use crate::failure::Failure;

/// The source of a text: a whole file or one line of it.
pub(super) struct Place {
    /// The name of the file, as the user gave it.
    pub(super) name: String,
    /// The line number, from 1; `None` for a whole file.
    pub(super) line: Option<usize>,
}

impl Place {
    /// The failure for an invalid `text`, with the line and column of `offset`.
    pub(super) fn refused(&self, text: &[u8], offset: usize, sentence: &str) -> Failure {
        let lines = || text[..offset].split(|byte| *byte == b'\n');
        let column = 1 + lines().next_back().map_or(0, <[u8]>::len);
        self.at(lines().count(), column, sentence)
    }

    /// The failure for a text that is not JSON.
    pub(super) fn no_json(&self, error: &serde_json::Error) -> Failure {
        let (line, column) = (error.line(), error.column());
        let sentence = error.to_string();
        let position = format!(" at line {line} column {column}");
        let sentence = sentence.strip_suffix(&position).unwrap_or(&sentence);
        self.at(line, column.max(1), &format!("this is not JSON: {sentence}"))
    }

    fn at(&self, line: usize, column: usize, sentence: &str) -> Failure {
        let line = self.line.unwrap_or(line);
        Failure::usage(format!("{}:{line}:{column}: {sentence}", self.name))
    }
}
