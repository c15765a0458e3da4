//! Why a Python value is no JSON.

use std::fmt::Write;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The outcome of writing.
pub(crate) type Written = Result<(), Unwritable>;

/// What cannot be written, and where it stands.
///
/// Boxed, since it is rare, and every value that is written is an outcome.
pub(crate) struct Unwritable(Box<Place>);

struct Place {
    reason: Reason,
    /// From the value out to the argument.
    path: Vec<Step>,
}

enum Reason {
    Type(String),
    Value(String),
    /// A value's own method raised it.
    Raised(PyErr),
}

enum Step {
    Position(usize),
    Key(String),
}

impl Unwritable {
    /// A `TypeError`.
    pub(crate) fn of_type(reason: String) -> Self {
        Self::of(Reason::Type(reason))
    }

    /// A `ValueError`.
    pub(crate) fn of_value(reason: &str) -> Self {
        Self::of(Reason::Value(reason.to_owned()))
    }

    /// What a value's own method raised.
    pub(crate) fn raised(error: PyErr) -> Self {
        Self::of(Reason::Raised(error))
    }

    /// The same, as seen from the array that it is in.
    pub(crate) fn at(mut self, position: usize) -> Self {
        self.0.path.push(Step::Position(position));
        self
    }

    /// The same, as seen from the object that it is in.
    pub(crate) fn below(mut self, key: &Bound<'_, PyAny>) -> Self {
        let key = key.cast::<PyString>().map(|key| key.to_string_lossy().into_owned());
        self.0.path.push(Step::Key(key.unwrap_or_default()));
        self
    }

    /// As the exception of an argument.
    pub(crate) fn in_argument(self, argument: &str) -> PyErr {
        let place = named(argument, &self.0.path);
        match self.0.reason {
            Reason::Type(reason) => PyTypeError::new_err(format!("{place}: {reason}")),
            Reason::Value(reason) => PyValueError::new_err(format!("{place}: {reason}")),
            Reason::Raised(error) => error,
        }
    }

    fn of(reason: Reason) -> Self {
        Self(Box::new(Place { reason, path: Vec::new() }))
    }
}

/// `items[3].content[0].text`
fn named(argument: &str, path: &[Step]) -> String {
    let mut place = argument.to_owned();
    for step in path.iter().rev() {
        let written = match step {
            Step::Position(position) => write!(place, "[{position}]"),
            Step::Key(key) => write!(place, ".{key}"),
        };
        written.expect("writing to a string does not fail");
    }
    place
}
