//! Errors in the files of an import.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The file that an error names.
#[derive(Clone, Debug)]
pub(super) struct Source(Arc<str>);

/// The reason why a file cannot be imported: the file, the line if it is known, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw(String);

impl Source {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.display().to_string().into())
    }

    /// A flaw at a line, or at a line and a column, as in `3:7`.
    pub(super) fn at(&self, line: impl fmt::Display, sentence: impl fmt::Display) -> Flaw {
        Flaw(format!("{}:{line}: {sentence}", self.0))
    }

    /// A flaw of the whole file.
    pub(super) fn flaw(&self, sentence: impl fmt::Display) -> Flaw {
        Flaw(format!("{}: {sentence}", self.0))
    }

    pub(super) fn unreadable(&self, error: &io::Error) -> Flaw {
        self.flaw(format_args!("it cannot be read: {error}"))
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Flaw {}
