//! Conversion of a whole answer.

use antiphon_surface::{self as surface, Event};
use bytes::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::arguments::{parse_value, to_json_text};

/// The events, the whole answer, the notes and the error: the fields of `antiphon.Converted`.
type Converted<'py> = (Bound<'py, PyList>, Bound<'py, PyAny>, Vec<String>, Option<String>);

#[pyfunction]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    answer: &Bound<'py, PyAny>,
    from: &str,
    to: &str,
    request: Option<&Bound<'py, PyAny>>,
    event_names: &str,
    now: i64,
) -> PyResult<Converted<'py>> {
    let answer = answer_text(answer)?;
    let request = request.map(|request| to_json_text("request", request)).transpose()?;
    let convert = || surface::convert(&answer, from, to, request.as_ref(), Some(event_names), now);
    let converted = py.detach(convert).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let surface::Converted { events, folded, notes, error, ends_with_done: _ } = converted;
    let events = events.iter().map(|event| parse_event(py, event)).collect::<PyResult<Vec<_>>>()?;
    Ok((PyList::new(py, events)?, parse_value(py, &folded)?, notes, error))
}

/// The text of an answer: a text, bytes, or a list of objects, which become one line each.
fn answer_text(answer: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if let Ok(text) = answer.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned().into());
    }
    if let Ok(bytes) = answer.cast::<PyBytes>() {
        return Ok(Bytes::copy_from_slice(bytes.as_bytes()));
    }
    let mut lines = Vec::new();
    for (position, event) in answer.try_iter()?.enumerate() {
        lines.extend_from_slice(&to_json_text(&format!("answer[{position}]"), &event?)?);
        lines.push(b'\n');
    }
    Ok(lines.into())
}

fn parse_event<'py>(py: Python<'py>, event: &Event) -> PyResult<Bound<'py, PyAny>> {
    parse_value(py, &String::from_utf8_lossy(&event.data))
}
