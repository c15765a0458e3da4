//! What stands beside a client: [`antiphon::companion`] as Python classes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use antiphon::FingerprintKey;
use antiphon::companion::{self, OpenError, Step};
use bytes::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What is known of the conversations and chains of one server.
#[pyclass(frozen, module = "antiphon._native")]
pub(crate) struct Companion(companion::Companion);

#[pymethods]
impl Companion {
    /// `key`: 16 random bytes, for the fingerprints of messages.
    #[new]
    fn new(key: [u8; 16]) -> Self {
        Self(companion::Companion::new(FingerprintKey::new(key)))
    }

    /// Begins a turn with the body of a request. Raises `ValueError` where it begins none.
    fn open(&self, py: Python<'_>, account: &str, body: &[u8]) -> PyResult<Turn> {
        let body = Bytes::copy_from_slice(body);
        py.detach(|| self.0.open(account, body)).map(Turn::new).map_err(no_turn)
    }

    /// Begins the delivery of the items in the body of a `POST …/items` to a conversation.
    fn deliver(
        &self,
        py: Python<'_>,
        account: &str,
        conversation: &str,
        body: &[u8],
    ) -> PyResult<Turn> {
        let Posted { items } = serde_json::from_slice(body)
            .map_err(|error| PyValueError::new_err(format!("no items to deliver: {error}")))?;
        let items = Bytes::copy_from_slice(items.get().as_bytes());
        let opened = py.detach(|| self.0.deliver(account, conversation, &items));
        opened.map(Turn::new).map_err(no_turn)
    }

    /// Something else than a turn changed the conversation.
    fn touched(&self, py: Python<'_>, account: &str, conversation: &str) {
        py.detach(|| self.0.touched(account, conversation));
    }
}

/// The body of a `POST …/items`.
#[derive(Deserialize)]
struct Posted<'a> {
    #[serde(borrow)]
    items: &'a RawValue,
}

fn no_turn(error: OpenError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A turn that was opened. Once it has ended or was left, nothing that is told changes anything.
///
/// A turn that is collected as garbage before its end was left.
#[pyclass(frozen, module = "antiphon._native")]
pub(crate) struct Turn(Mutex<Option<companion::Turn>>);

#[pymethods]
impl Turn {
    /// What is to be done next: `Ask`, `Send`, `GiveUp`, or `None`.
    fn step(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let step = self.told(py, |turn| turn.step());
        Ok(match step.unwrap_or(Step::Nothing) {
            Step::Ask { method, path, body } => {
                let body = body.map(|body| PyBytes::new(py, &body).unbind());
                Some(Py::new(py, Ask { method: method.as_str(), path, body })?.into_any())
            }
            Step::Send { body } => {
                let body = PyBytes::new(py, &body).unbind();
                Some(Py::new(py, Send { body })?.into_any())
            }
            Step::GiveUp => Some(Py::new(py, GiveUp)?.into_any()),
            Step::Nothing => None,
        })
    }

    /// How many seconds to wait before doing that.
    fn wait(&self, py: Python<'_>) -> Option<f64> {
        let wait = self.told(py, |turn| turn.wait()).flatten();
        wait.map(|wait| wait.as_secs_f64())
    }

    /// What the server says to what `Ask` asks.
    fn answered(&self, py: Python<'_>, status: u16, body: &[u8]) {
        let body = Bytes::copy_from_slice(body);
        self.told(py, |turn| turn.answered(status, body));
    }

    /// The server refused the request that was sent.
    fn refused(&self, py: Python<'_>, status: u16, body: &[u8]) {
        let body = Bytes::copy_from_slice(body);
        self.told(py, |turn| turn.refused(status, body));
    }

    /// The server answers the request that was sent.
    fn begun(&self, py: Python<'_>, is_event_stream: bool) {
        self.told(py, |turn| turn.begun(is_event_stream));
    }

    /// Bytes of the answer, as they come.
    fn heard(&self, py: Python<'_>, data: &[u8]) {
        self.told(py, |turn| turn.heard(data));
    }

    /// The answer is over.
    fn ended(&self, py: Python<'_>) {
        py.detach(|| {
            if let Some(mut turn) = self.held().take() {
                turn.ended();
            }
        });
    }

    /// The answer broke off, or nobody reads it any more.
    fn left(&self, py: Python<'_>) {
        py.detach(|| {
            if let Some(mut turn) = self.held().take() {
                turn.left();
            }
        });
    }

    /// What was left out and mended.
    fn report(&self, py: Python<'_>) -> Report {
        let report = self.told(py, |turn| turn.report()).unwrap_or_default();
        let headers = report.headers();
        let companion::Report { resent, mends, relearned, by_kind } = report;
        Report {
            resent,
            mends: mends.into_iter().map(mending).collect(),
            relearned,
            by_kind,
            headers,
        }
    }
}

impl Turn {
    fn new(turn: companion::Turn) -> Self {
        Self(Mutex::new(Some(turn)))
    }

    /// Tells the turn something, while other threads of Python's go on. None once it is over.
    fn told<T: std::marker::Send>(
        &self,
        py: Python<'_>,
        tell: impl FnOnce(&mut companion::Turn) -> T + std::marker::Send,
    ) -> Option<T> {
        py.detach(|| self.held().as_mut().map(tell))
    }

    /// A panic of another thread's leaves nothing here that is worse than a turn in doubt.
    fn held(&self) -> MutexGuard<'_, Option<companion::Turn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was left out and mended.
#[pyclass(frozen, get_all, module = "antiphon._native")]
pub(crate) struct Report {
    /// How many items the server held already.
    resent: usize,
    /// What was mended.
    mends: Vec<Mending>,
    /// What the server refused of the request as it was first sent.
    relearned: Option<&'static str>,
    /// Whether items were left out by their kind.
    by_kind: bool,
    /// The headers that tell of it.
    headers: Vec<(&'static str, String)>,
}

/// The item's position, id and kind; the fault, what was done, and the message.
type Mending = (Option<usize>, Option<String>, String, &'static str, &'static str, String);

fn mending(mending: companion::Mending) -> Mending {
    let companion::Mending { position, id, kind, fault, action, message } = mending;
    let id = id.map(|id| id.to_string());
    (position, id, kind.as_str().to_owned(), fault, action, message)
}

/// Ask the server, and tell `Turn.answered` what it says.
#[pyclass(frozen, get_all, module = "antiphon._native")]
pub(crate) struct Ask {
    /// The method.
    method: &'static str,
    /// Below the base URL, query and all.
    path: String,
    /// The body of a `POST`.
    body: Option<Py<PyBytes>>,
}

/// Send the request with this body.
#[pyclass(frozen, get_all, module = "antiphon._native")]
pub(crate) struct Send {
    /// The whole body.
    body: Py<PyBytes>,
}

/// Give the caller the last answer as it came.
#[pyclass(frozen, module = "antiphon._native")]
pub(crate) struct GiveUp;
