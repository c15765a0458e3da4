//! [`antiphon::stateful`] as Python classes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use antiphon::FingerprintKey;
use antiphon::stateful::{self, OpenError, Step};
use bytes::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The known state of the conversations and chains of one server.
#[pyclass(frozen, module = "antiphon._native")]
pub(crate) struct StatefulClient(stateful::StatefulClient);

#[pymethods]
impl StatefulClient {
    /// `key`: 16 random bytes that key the fingerprints of messages.
    #[new]
    fn new(key: [u8; 16]) -> Self {
        Self(stateful::StatefulClient::new(FingerprintKey::new(key)))
    }

    /// Begins a turn with the body of a request. Raises `ValueError` for an invalid body.
    fn open(&self, py: Python<'_>, account: &str, body: &[u8]) -> PyResult<Turn> {
        let body = Bytes::copy_from_slice(body);
        py.detach(|| self.0.open(account, body)).map(Turn::new).map_err(open_error)
    }

    /// Begins the delivery of the items in the body of a `POST …/items` to a conversation.
    fn deliver(
        &self,
        py: Python<'_>,
        account: &str,
        conversation: &str,
        body: &[u8],
    ) -> PyResult<Turn> {
        let Posted { items } = serde_json::from_slice(body).map_err(|error| {
            PyValueError::new_err(format!("the body has no items to deliver: {error}"))
        })?;
        let items = Bytes::copy_from_slice(items.get().as_bytes());
        let opened = py.detach(|| self.0.deliver(account, conversation, &items));
        opened.map(Turn::new).map_err(open_error)
    }

    /// Records that a request other than a turn changed the conversation.
    fn mark_stale(&self, py: Python<'_>, account: &str, conversation: &str) {
        py.detach(|| self.0.mark_stale(account, conversation));
    }
}

/// The body of a `POST …/items`.
#[derive(Deserialize)]
struct Posted<'a> {
    #[serde(borrow)]
    items: &'a RawValue,
}

fn open_error(error: OpenError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// An open turn. After `finish` or `abandon`, its methods have no effect.
///
/// A turn that is garbage collected before its end counts as abandoned.
#[pyclass(frozen, module = "antiphon._native")]
pub(crate) struct Turn(Mutex<Option<stateful::Turn>>);

#[pymethods]
impl Turn {
    /// The next step: `Ask`, `Send`, `GiveUp`, or `None`.
    fn step(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let step = self.with_turn(py, |turn| turn.step());
        Ok(match step.unwrap_or(Step::Nothing) {
            Step::Ask { method, path } => {
                Some(Py::new(py, Ask { method: method.as_str(), path })?.into_any())
            }
            Step::Send { body } => {
                let body = PyBytes::new(py, &body).unbind();
                Some(Py::new(py, Send { body })?.into_any())
            }
            Step::GiveUp => Some(Py::new(py, GiveUp)?.into_any()),
            Step::Nothing => None,
        })
    }

    /// The seconds to wait before the next step.
    fn wait(&self, py: Python<'_>) -> Option<f64> {
        let wait = self.with_turn(py, |turn| turn.wait()).flatten();
        wait.map(|wait| wait.as_secs_f64())
    }

    /// Records the server's answer to `Ask`.
    fn record_answer(&self, py: Python<'_>, status: u16, body: &[u8]) {
        let body = Bytes::copy_from_slice(body);
        self.with_turn(py, |turn| turn.record_answer(status, body));
    }

    /// Records that the server rejected the request.
    fn record_rejection(&self, py: Python<'_>, status: u16, body: &[u8]) {
        let body = Bytes::copy_from_slice(body);
        self.with_turn(py, |turn| turn.record_rejection(status, body));
    }

    /// Records the start of the server's answer to the request. `now` is in Unix seconds.
    fn start(&self, py: Python<'_>, is_event_stream: bool, now: i64) {
        self.with_turn(py, |turn| turn.start(is_event_stream, now));
    }

    /// Takes the next bytes of the answer, and returns those for the caller. `now` is in Unix
    /// seconds.
    fn push<'py>(&self, py: Python<'py>, data: &[u8], now: i64) -> Bound<'py, PyBytes> {
        let shown = self.with_turn(py, |turn| turn.push(data, now));
        PyBytes::new(py, &shown.unwrap_or_default())
    }

    /// Records the end of the answer, and returns the last bytes for the caller. `now` is in Unix
    /// seconds.
    fn finish<'py>(&self, py: Python<'py>, now: i64) -> Bound<'py, PyBytes> {
        let shown = py.detach(|| self.lock().take().map(|mut turn| turn.finish(now)));
        PyBytes::new(py, &shown.unwrap_or_default())
    }

    /// Records that the answer broke off, or that its reader stopped.
    fn abandon(&self, py: Python<'_>) {
        py.detach(|| {
            if let Some(mut turn) = self.lock().take() {
                turn.abandon();
            }
        });
    }

    /// The items that were left out, and the repairs.
    fn report(&self, py: Python<'_>) -> Report {
        let report = self.with_turn(py, |turn| turn.report()).unwrap_or_default();
        let headers = report.headers();
        let stateful::Report { resent, repairs, resynced_after, by_kind, .. } = report;
        Report {
            resent,
            mends: repairs.into_iter().map(convert_repair).collect(),
            relearned: resynced_after,
            by_kind,
            headers,
        }
    }
}

impl Turn {
    fn new(turn: stateful::Turn) -> Self {
        Self(Mutex::new(Some(turn)))
    }

    /// Calls the turn without the interpreter's lock. `None` after its end.
    fn with_turn<T: std::marker::Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut stateful::Turn) -> T + std::marker::Send,
    ) -> Option<T> {
        py.detach(|| self.lock().as_mut().map(call))
    }

    /// Ignores poisoning: after a panic of another thread the turn is at worst stale.
    fn lock(&self) -> MutexGuard<'_, Option<stateful::Turn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The items that were left out, and the repairs.
#[pyclass(frozen, get_all, module = "antiphon._native")]
pub(crate) struct Report {
    /// The number of items that the server already held.
    resent: usize,
    /// The repairs.
    mends: Vec<RepairFields>,
    /// The fault for which the server rejected the first attempt.
    relearned: Option<&'static str>,
    /// Whether items were left out by type, because the server's items are unknown.
    by_kind: bool,
    /// The headers of this report.
    headers: Vec<(&'static str, String)>,
}

/// The item's position, id and kind; the fault, the action, and the message.
type RepairFields = (Option<usize>, Option<String>, String, &'static str, &'static str, String);

fn convert_repair(repair: stateful::ReportedRepair) -> RepairFields {
    let stateful::ReportedRepair { position, id, kind, fault, action, message, .. } = repair;
    let id = id.map(|id| id.to_string());
    (position, id, kind.as_str().to_owned(), fault, action, message)
}

/// Send this request without a body to the server, and pass the answer to `Turn.record_answer`.
#[pyclass(frozen, get_all, module = "antiphon._native")]
pub(crate) struct Ask {
    /// The method.
    method: &'static str,
    /// The path and query below the base URL.
    path: String,
}

/// Send the request with this body.
#[pyclass(frozen, get_all, module = "antiphon._native")]
pub(crate) struct Send {
    /// The full body.
    body: Py<PyBytes>,
}

/// Return the last answer to the caller unchanged.
#[pyclass(frozen, module = "antiphon._native")]
pub(crate) struct GiveUp;
