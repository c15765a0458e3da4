//! Creates the package's exceptions. Their classes are written in Python.

use antiphon_surface::{Finding, InvalidArgument, RepairError, TrackerError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A fault, in the order of the arguments of `antiphon.faults.new_fault`.
pub(crate) type Fault =
    (&'static str, String, Option<usize>, Option<String>, Option<&'static str>, Option<String>);

/// The fields of a fault.
pub(crate) fn fault(finding: Finding) -> Fault {
    let Finding { position, id, fault, action: _, message, code, param } = finding;
    (fault, message, position, id, code, param)
}

/// `antiphon.InvalidArgument`
pub(crate) fn invalid_argument_error(py: Python<'_>, error: &InvalidArgument) -> PyErr {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let arguments = (error.to_string(), error.argument, error.position());
    new_error(CLASS.import(py, "antiphon._errors", "Unreadable"), arguments)
}

/// `antiphon.InvalidArgument`, the class of the fault that a policy rejects, or `ValueError`.
pub(crate) fn repair_error(py: Python<'_>, error: RepairError) -> PyErr {
    static NEW_FAULT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    match error {
        RepairError::InvalidArgument(error) => invalid_argument_error(py, &error),
        RepairError::Policy(error) => PyValueError::new_err(error.to_string()),
        RepairError::Refused(finding) => {
            new_error(NEW_FAULT.import(py, "antiphon.faults", "new_fault"), fault(*finding))
        }
    }
}

/// `antiphon.InvalidArgument` or `antiphon.TrackerError`.
pub(crate) fn tracker_error(py: Python<'_>, error: &TrackerError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let TrackerError::InvalidArgument(error) = error {
        return invalid_argument_error(py, error);
    }
    let arguments = (error.to_string(), error.name());
    new_error(CLASS.import(py, "antiphon._errors", "TrackerError"), arguments)
}

/// Creates an exception of a class, or returns the error of that attempt.
fn new_error<'py>(
    class: PyResult<&Bound<'py, PyAny>>,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyErr {
    match class.and_then(|class| class.call1(arguments)) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}
