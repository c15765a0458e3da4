//! The errors of a request.

use std::time::Duration;

use antiphon::faults::StateError;
use antiphon::stateful::Report;
use http::HeaderMap;

use crate::Rejection;

/// The error of a request, or of an answer that has begun.
///
/// ```
/// use antiphon_client::{Error, ErrorKind};
///
/// let error = Error::from(ErrorKind::BrokeOff("the connection was reset".into()));
/// assert!(error.may_have_arrived() && !error.has_emitted_output());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", inner.kind)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    has_emitted_output: bool,
    report: Option<Report>,
}

/// The kind of an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server answered with an error status.
    #[error("the server answered with status {}: {}", .0.status, .0.message)]
    Rejected(Rejection),
    /// The answer began, and the server ended it as failed.
    #[error("the response failed: {message}")]
    Failed {
        /// `error.code`
        code: String,
        /// `error.message`
        message: String,
    },
    /// There was no answer, or it ended too early. The server may have received the request, so its
    /// state is unknown. The text is the reason.
    #[error("the answer broke off: {0}")]
    BrokeOff(String),
    /// The answer does not have the form of the server's API. The text is the reason.
    #[error("the server's answer is not valid: {0}")]
    UnexpectedAnswer(String),
    /// There was no connection, so the server has not received the request. The text is the reason.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The request cannot be sent to this server in any form: its API lacks a part that the request
    /// needs. The text is a sentence.
    #[error("{0}")]
    Unsupported(String),
    /// The request is not valid. The text is the reason.
    #[error("the request is not valid: {0}")]
    InvalidRequest(String),
}

impl Error {
    /// The error for an answer with an error status. `body` is the server's error object. For
    /// backends of tests; a client reads the headers too.
    pub fn rejected(status: u16, body: impl Into<bytes::Bytes>) -> Self {
        ErrorKind::Rejected(Rejection::new(status, &HeaderMap::new(), &body.into(), 0)).into()
    }

    /// The error for a part of a request that the server's API lacks.
    pub fn unsupported(message: impl Into<String>) -> Self {
        ErrorKind::Unsupported(message.into()).into()
    }

    /// The kind.
    pub fn kind(&self) -> &ErrorKind {
        &self.inner.kind
    }

    /// The server's error, if it answered with an error status.
    pub fn rejection(&self) -> Option<&Rejection> {
        match self.kind() {
            ErrorKind::Rejected(rejection) => Some(rejection),
            _ => None,
        }
    }

    /// The HTTP status of the server's error.
    pub fn status(&self) -> Option<u16> {
        self.rejection().map(|rejection| rejection.status)
    }

    /// The delay that the server asks for before a retry.
    pub fn retry_after(&self) -> Option<Duration> {
        self.rejection().and_then(|rejection| rejection.retry_after)
    }

    /// The server's own decision about a retry: the `x-should-retry` header.
    pub fn should_retry(&self) -> Option<bool> {
        self.rejection().and_then(|rejection| rejection.should_retry)
    }

    /// The state error: the request does not fit the items that the server stores.
    pub fn state_error(&self) -> Option<StateError> {
        match self.kind() {
            ErrorKind::Rejected(rejection) => rejection.state_error(),
            ErrorKind::Failed { code, message } => StateError::recognize(code, message),
            _ => None,
        }
    }

    /// Whether an event with output came before the error, so that a retry would repeat output.
    pub fn has_emitted_output(&self) -> bool {
        self.inner.has_emitted_output
    }

    /// Whether the server may have the request and may have changed its state. If not, the request
    /// had no effect.
    pub fn may_have_arrived(&self) -> bool {
        match self.kind() {
            // A proxy in front of the server may have timed out.
            ErrorKind::Rejected(rejection) => rejection.status == 408 || rejection.status >= 500,
            ErrorKind::Failed { .. } | ErrorKind::BrokeOff(_) | ErrorKind::UnexpectedAnswer(_) => {
                true
            }
            ErrorKind::Unreachable(_)
            | ErrorKind::Unsupported(_)
            | ErrorKind::InvalidRequest(_) => false,
        }
    }

    /// The changes to the request before it was sent; `None` if it was sent as it is.
    pub fn report(&self) -> Option<&Report> {
        self.inner.report.as_ref()
    }

    /// The same error, after events with output.
    #[must_use]
    pub fn after_output(mut self) -> Self {
        self.inner.has_emitted_output = true;
        self
    }

    /// The same error, of a request with these changes.
    #[must_use]
    pub fn with_report(mut self, report: Report) -> Self {
        self.inner.report = Some(report);
        self
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { inner: Box::new(Inner { kind, has_emitted_output: false, report: None }) }
    }
}
