//! Errors of Python values that JSON cannot express.

use std::fmt::Write;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The result of writing a value.
pub(crate) type WriteResult = Result<(), UnwritableValue>;

/// A value that JSON cannot express, and its position.
///
/// Boxed to keep every result small, because the error is rare.
pub(crate) struct UnwritableValue(Box<Details>);

struct Details {
    reason: Reason,
    /// The path from the value up to the argument.
    path: Vec<Step>,
}

enum Reason {
    Type(String),
    Value(String),
    /// An exception of one of the value's own methods.
    Raised(PyErr),
}

enum Step {
    Position(usize),
    Key(String),
}

impl UnwritableValue {
    /// A value of a wrong type: `TypeError`.
    pub(crate) fn wrong_type(reason: String) -> Self {
        Self::new(Reason::Type(reason))
    }

    /// An invalid value: `ValueError`.
    pub(crate) fn invalid_value(reason: &str) -> Self {
        Self::new(Reason::Value(reason.to_owned()))
    }

    /// An exception of one of the value's own methods.
    pub(crate) fn raised(error: PyErr) -> Self {
        Self::new(Reason::Raised(error))
    }

    /// Adds the position in the surrounding array to the path.
    pub(crate) fn at_position(mut self, position: usize) -> Self {
        self.0.path.push(Step::Position(position));
        self
    }

    /// Adds the key in the surrounding object to the path.
    pub(crate) fn at_key(mut self, key: &Bound<'_, PyAny>) -> Self {
        let key = key.cast::<PyString>().map(|key| key.to_string_lossy().into_owned());
        self.0.path.push(Step::Key(key.unwrap_or_default()));
        self
    }

    /// Converts the error to an exception that names the argument and the path.
    pub(crate) fn into_exception(self, argument: &str) -> PyErr {
        let path = format_path(argument, &self.0.path);
        match self.0.reason {
            Reason::Type(reason) => PyTypeError::new_err(format!("{path}: {reason}")),
            Reason::Value(reason) => PyValueError::new_err(format!("{path}: {reason}")),
            Reason::Raised(error) => error,
        }
    }

    fn new(reason: Reason) -> Self {
        Self(Box::new(Details { reason, path: Vec::new() }))
    }
}

/// `items[3].content[0].text`
fn format_path(argument: &str, path: &[Step]) -> String {
    let mut text = argument.to_owned();
    for step in path.iter().rev() {
        let written = match step {
            Step::Position(position) => write!(text, "[{position}]"),
            Step::Key(key) => write!(text, ".{key}"),
        };
        written.expect("writing to a string does not fail");
    }
    text
}
