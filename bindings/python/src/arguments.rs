//! Reads the arguments of a call.

use bytes::Bytes;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};

use crate::json_writer::{JsonWriter, is_model};

/// A typical size of an item in bytes.
const ITEM_BYTES: usize = 512;

/// The objects of an argument, and their JSON text.
pub(crate) struct ItemsArgument<'py> {
    /// The objects at the start of the call.
    pub(crate) objects: Vec<Bound<'py, PyAny>>,
    /// The JSON array of the objects.
    pub(crate) text: Bytes,
}

impl<'py> ItemsArgument<'py> {
    /// Reads any iterable of dicts and models. Rejects a single dict, text or model.
    pub(crate) fn read(argument: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let objects = objects(argument, value)?;
        let mut writer = JsonWriter::with_capacity(objects.len() * ITEM_BYTES);
        match writer.array(objects.iter().cloned()) {
            Ok(()) => Ok(Self { objects, text: writer.into_text().into() }),
            Err(unwritable) => Err(unwritable.into_exception(argument)),
        }
    }
}

/// The JSON text of one value.
pub(crate) fn to_json_text(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    let mut writer = JsonWriter::with_capacity(ITEM_BYTES);
    match writer.value(value) {
        Ok(()) => Ok(writer.into_text().into()),
        Err(unwritable) => Err(unwritable.into_exception(argument)),
    }
}

/// The Python value of a JSON text from the engine.
pub(crate) fn parse_value<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
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
            Err(PyTypeError::new_err(format!("{argument} must be a list of items, not {kind}")))
        }
    }
}
