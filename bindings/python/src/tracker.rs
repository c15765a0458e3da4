//! The tracker as a Python class.

use std::sync::{Mutex, PoisonError};

use antiphon_surface::{self as surface, OccurrenceState, TrackerError};
use pyo3::prelude::*;
use serde::Serialize;

use crate::arguments::{ItemsArgument, parse_value, to_json_text};
use crate::exceptions::tracker_error;

/// `antiphon_surface::Tracker`. Plans and other structures are dicts of their JSON form.
#[pyclass(frozen, module = "antiphon._native")]
pub(crate) struct Tracker(Mutex<surface::Tracker>);

#[pymethods]
impl Tracker {
    #[new]
    fn new(py: Python<'_>, options: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options = to_json_text("options", options)?;
        let options = std::str::from_utf8(&options).expect("the writer writes UTF-8");
        Self::from_result(py, surface::Tracker::new(options))
    }

    #[staticmethod]
    fn from_json(py: Python<'_>, snapshot: &str) -> PyResult<Self> {
        Self::from_result(py, surface::Tracker::from_json(snapshot))
    }

    fn add(&self, py: Python<'_>, items: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let items = ItemsArgument::read("items", items)?.text;
        self.try_with_tracker(py, |tracker| tracker.add(&items))
    }

    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_value(py, &self.with_tracker(py, |tracker| tracker.plan()))
    }

    fn send(&self, py: Python<'_>, occurrences: Vec<u64>) -> PyResult<u64> {
        self.try_with_tracker(py, |tracker| tracker.send(&occurrences))
    }

    fn send_filtered(&self, py: Python<'_>, returned: &Bound<'_, PyAny>) -> PyResult<u64> {
        let returned = to_json_text("returned", returned)?;
        self.try_with_tracker(py, |tracker| tracker.send_filtered(&returned))
    }

    fn accept(&self, py: Python<'_>, attempt: u64, response: &Bound<'_, PyAny>) -> PyResult<()> {
        let response = to_json_text("response", response)?;
        self.try_with_tracker(py, |tracker| tracker.accept(attempt, &response))
    }

    fn rewind(&self, py: Python<'_>, attempt: u64) -> PyResult<Vec<u64>> {
        self.try_with_tracker(py, |tracker| tracker.rewind(attempt))
    }

    fn hydrate(&self, py: Python<'_>, held: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let held = ItemsArgument::read("held", held)?.text;
        self.try_with_tracker(py, |tracker| tracker.hydrate(&held))
    }

    fn unresolved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_value(py, &self.with_tracker(py, |tracker| tracker.unresolved()))
    }

    fn standing(&self, py: Python<'_>, occurrence: u64) -> Option<(&'static str, Option<u64>)> {
        let standing = self.with_tracker(py, |tracker| tracker.standing(occurrence));
        standing.map(|OccurrenceState { standing, attempt }| (standing, attempt))
    }

    fn turns(&self, py: Python<'_>) -> u64 {
        self.with_tracker(py, |tracker| tracker.turns())
    }

    fn conversation(&self, py: Python<'_>) -> Option<String> {
        self.with_tracker(py, |tracker| tracker.conversation().map(str::to_owned))
    }

    fn previous_response_id(&self, py: Python<'_>) -> Option<String> {
        self.with_tracker(py, |tracker| tracker.previous_response_id().map(str::to_owned))
    }

    fn finish(&self, py: Python<'_>) {
        self.with_tracker(py, surface::Tracker::finish);
    }

    fn is_finished(&self, py: Python<'_>) -> bool {
        self.with_tracker(py, |tracker| tracker.is_finished())
    }

    fn to_json(&self, py: Python<'_>) -> String {
        self.with_tracker(py, |tracker| tracker.to_json())
    }
}

impl Tracker {
    fn from_result(
        py: Python<'_>,
        tracker: Result<surface::Tracker, TrackerError>,
    ) -> PyResult<Self> {
        let tracker = tracker.map_err(|error| tracker_error(py, &error))?;
        Ok(Self(Mutex::new(tracker)))
    }

    /// Calls the tracker without the interpreter's lock.
    fn with_tracker<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut surface::Tracker) -> T + Send,
    ) -> T {
        py.detach(|| call(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn try_with_tracker<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut surface::Tracker) -> Result<T, TrackerError> + Send,
    ) -> PyResult<T> {
        self.with_tracker(py, call).map_err(|error| tracker_error(py, &error))
    }
}

/// Converts a value to Python dicts and lists through JSON.
fn as_value<'py>(py: Python<'py>, form: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(form).expect("texts and numbers serialize to JSON");
    parse_value(py, &text)
}
