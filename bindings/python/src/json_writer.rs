//! Writes Python values as JSON text in one pass.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyMemoryView,
    PySequence, PyString, PyTuple, PyType,
};
use pyo3::{PyTypeInfo, intern};

use crate::json_string::write_quoted;
use crate::unwritable::{UnwritableValue, WriteResult};

/// The maximum nesting depth: far deeper than any item, and safe for every thread's stack.
const MAX_DEPTH: usize = 200;

/// Writes values like `json.dumps` without spaces, and SDK models in the form that the SDK sends.
///
/// Rejects values that JSON cannot express: other types, keys that are not strings, infinite
/// numbers, and values that contain themselves.
pub(crate) struct JsonWriter {
    text: Vec<u8>,
    depth: usize,
}

impl JsonWriter {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { text: Vec::with_capacity(bytes), depth: 0 }
    }

    /// Returns the written text.
    pub(crate) fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// Writes `values` as an array.
    pub(crate) fn array<'py>(
        &mut self,
        values: impl IntoIterator<Item = Bound<'py, PyAny>>,
    ) -> WriteResult {
        self.open(b'[')?;
        for (position, value) in values.into_iter().enumerate() {
            if position > 0 {
                self.text.push(b',');
            }
            self.value(&value).map_err(|unwritable| unwritable.at_position(position))?;
        }
        self.close(b']');
        Ok(())
    }

    /// Writes any value.
    pub(crate) fn value(&mut self, value: &Bound<'_, PyAny>) -> WriteResult {
        if let Ok(text) = value.cast::<PyString>() {
            self.string(text)
        } else if let Ok(dict) = value.cast::<PyDict>() {
            // Collected first, because a model in the dict may change the dict.
            self.object(dict.iter().collect::<Vec<_>>())
        } else if let Ok(list) = value.cast::<PyList>() {
            self.array(list.iter())
        } else if let Some(constant) = constant(value) {
            self.plain(constant);
            Ok(())
        } else if let Ok(number) = value.cast::<PyInt>() {
            self.integer(number)
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number)
        } else {
            self.rare_type(value)
        }
    }

    fn rare_type(&mut self, value: &Bound<'_, PyAny>) -> WriteResult {
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return self.array(tuple.iter());
        }
        if let Some(dump) = dump_model(value)? {
            return self.model(&dump);
        }
        if let Ok(mapping) = value.cast::<PyMapping>() {
            return self.mapping(mapping);
        }
        if !is_binary(value)
            && let Ok(sequence) = value.cast::<PySequence>()
        {
            return self.array(sequence.to_list().map_err(UnwritableValue::raised)?);
        }
        Err(UnwritableValue::wrong_type(format!("{} is not a JSON value", type_name(value))))
    }

    /// Writes a model's dump. It counts as a level, so that a model that dumps itself is rejected.
    fn model(&mut self, dump: &Bound<'_, PyAny>) -> WriteResult {
        self.descend()?;
        self.value(dump)?;
        self.depth -= 1;
        Ok(())
    }

    fn object<'py>(
        &mut self,
        entries: impl IntoIterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    ) -> WriteResult {
        self.open(b'{')?;
        for (position, (key, value)) in entries.into_iter().enumerate() {
            if position > 0 {
                self.text.push(b',');
            }
            self.key(&key)?;
            self.text.push(b':');
            self.value(&value).map_err(|unwritable| unwritable.at_key(&key))?;
        }
        self.close(b'}');
        Ok(())
    }

    fn mapping(&mut self, mapping: &Bound<'_, PyMapping>) -> WriteResult {
        let entries = mapping.items().map_err(UnwritableValue::raised)?;
        let entries: PyResult<Vec<_>> = entries.iter().map(|entry| entry.extract()).collect();
        self.object(entries.map_err(UnwritableValue::raised)?)
    }

    fn key(&mut self, key: &Bound<'_, PyAny>) -> WriteResult {
        if let Ok(key) = key.cast::<PyString>() {
            return self.string(key);
        }
        Err(UnwritableValue::wrong_type(format!("keys must be strings, not {}", type_name(key))))
    }

    fn string(&mut self, text: &Bound<'_, PyString>) -> WriteResult {
        let Ok(text) = text.to_str() else { return self.lone_surrogates(text) };
        write_quoted(&mut self.text, text);
        Ok(())
    }

    /// Writes a text with lone surrogates, which JSON can express only as escapes.
    fn lone_surrogates(&mut self, text: &Bound<'_, PyString>) -> WriteResult {
        static DUMPS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let dumps = DUMPS.import(text.py(), "json", "dumps");
        let written = dumps.and_then(|dumps| dumps.call1((text,))?.extract::<String>());
        self.plain(&written.map_err(UnwritableValue::raised)?);
        Ok(())
    }

    fn integer(&mut self, number: &Bound<'_, PyInt>) -> WriteResult {
        let Ok(small) = number.extract::<i64>() else {
            return self.number::<PyInt>(number);
        };
        self.plain(itoa::Buffer::new().format(small));
        Ok(())
    }

    fn float(&mut self, number: &Bound<'_, PyFloat>) -> WriteResult {
        let value = number.value();
        if !value.is_finite() {
            return Err(UnwritableValue::invalid_value(&format!("{value} is not a JSON number")));
        }
        self.number::<PyFloat>(number)
    }

    /// Writes a number with the `__repr__` of its base type, not of a subclass such as an enum.
    fn number<T: PyTypeInfo>(&mut self, number: &Bound<'_, PyAny>) -> WriteResult {
        let kind = PyType::new::<T>(number.py());
        let written = kind.call_method1(intern!(number.py(), "__repr__"), (number,));
        let written = written.and_then(|text| text.extract::<String>());
        self.plain(&written.map_err(UnwritableValue::raised)?);
        Ok(())
    }

    fn plain(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    fn open(&mut self, bracket: u8) -> WriteResult {
        self.descend()?;
        self.text.push(bracket);
        Ok(())
    }

    fn descend(&mut self) -> WriteResult {
        if self.depth == MAX_DEPTH {
            let text = format!("it contains itself, or is nested deeper than {MAX_DEPTH} levels");
            return Err(UnwritableValue::invalid_value(&text));
        }
        self.depth += 1;
        Ok(())
    }

    fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        self.text.push(bracket);
    }
}

fn constant(value: &Bound<'_, PyAny>) -> Option<&'static str> {
    if value.is_none() {
        return Some("null");
    }
    let truth = value.cast::<PyBool>().ok()?;
    Some(if truth.is_true() { "true" } else { "false" })
}

/// Dumps an SDK model in the form that the SDK sends. `None` for other values.
fn dump_model<'py>(
    value: &Bound<'py, PyAny>,
) -> Result<Option<Bound<'py, PyAny>>, UnwritableValue> {
    static OPTIONS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let py = value.py();
    if !is_model(value).map_err(UnwritableValue::raised)? {
        return Ok(None);
    }
    let options = OPTIONS.get_or_try_init(py, || {
        let options = PyDict::new(py);
        options.set_item("mode", "json")?;
        options.set_item("by_alias", true)?;
        options.set_item("exclude_unset", true)?;
        PyResult::Ok(options.unbind())
    });
    let options = options.map_err(UnwritableValue::raised)?.bind(py);
    let dump = value.call_method(intern!(py, "model_dump"), (), Some(options));
    dump.map(Some).map_err(UnwritableValue::raised)
}

/// Whether a value is a model of the SDK or another pydantic model.
pub(crate) fn is_model(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.get_type().hasattr(intern!(value.py(), "model_dump"))
}

/// Whether a value is binary. Binary values are sequences of numbers, but not JSON arrays.
fn is_binary(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PyMemoryView>()
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().qualname().map_or_else(|_| "a value".to_owned(), |name| name.to_string())
}
