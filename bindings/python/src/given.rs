//! Items as a caller gives them.

use bytes::Bytes;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};

use crate::writing::{Writer, is_model};

/// About as many bytes as an item has.
const OF_AN_ITEM: usize = 512;

/// The objects of an argument, and their text.
pub(crate) struct Given<'py> {
    /// As they were when the call began.
    pub(crate) objects: Vec<Bound<'py, PyAny>>,
    /// The text of an array of them.
    pub(crate) text: Bytes,
}

impl<'py> Given<'py> {
    /// Reads any iterable of dicts and models. A dict or a text is taken for a mistake.
    pub(crate) fn read(argument: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let objects = objects(argument, value)?;
        let mut writer = Writer::with_capacity(objects.len() * OF_AN_ITEM);
        match writer.array(objects.iter().cloned()) {
            Ok(()) => Ok(Self { objects, text: writer.into_text().into() }),
            Err(unwritable) => Err(unwritable.in_argument(argument)),
        }
    }
}

/// The text of one value.
pub(crate) fn text_of(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    let mut writer = Writer::with_capacity(OF_AN_ITEM);
    match writer.value(value) {
        Ok(()) => Ok(writer.into_text().into()),
        Err(unwritable) => Err(unwritable.in_argument(argument)),
    }
}

/// The value of a JSON text of the engine's.
pub(crate) fn value_of<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    LOADS.import(py, "json", "loads")?.call1((text,))
}

fn objects<'py>(argument: &str, value: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = value.cast::<PyList>() {
        return Ok(list.iter().collect());
    }
    let is_one =
        value.is_instance_of::<PyDict>() || value.is_instance_of::<PyString>() || is_model(value)?;
    match value.try_iter() {
        Ok(items) if !is_one => items.collect(),
        _ => {
            let kind = value.get_type().qualname()?;
            Err(PyTypeError::new_err(format!("{argument} is to be a list of items, not {kind}")))
        }
    }
}
