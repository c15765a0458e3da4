//! Where something stands in a file.

use crate::failure::Failure;

/// A text's place: the whole of a file, or one line of it.
pub(super) struct Place {
    /// The file, as it was named.
    pub(super) name: String,
    /// The number of the line, from 1; `None` for the whole of a file.
    pub(super) line: Option<usize>,
}

impl Place {
    /// What keeps `text` from being read, at `offset`.
    pub(super) fn refused(&self, text: &[u8], offset: usize, sentence: &str) -> Failure {
        let lines = || text[..offset].split(|byte| *byte == b'\n');
        let column = 1 + lines().next_back().map_or(0, <[u8]>::len);
        self.at(lines().count(), column, sentence)
    }

    /// What keeps a text from being JSON.
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
