//! The classes of errors, for spans: codes of the API and of providers, never a text.

use std::borrow::Cow;

use super::error::UpstreamError;
use super::rejection_log::known_code;
use crate::error::{ApiError, UpstreamRejection};
use crate::span::ErrorType;

impl ErrorType for ApiError {
    fn error_type(&self) -> Cow<'_, str> {
        match self {
            Self::Upstream(rejection) => rejection.error_type(),
            error => error.code().into(),
        }
    }
}

impl ErrorType for UpstreamError {
    fn error_type(&self) -> Cow<'_, str> {
        match self {
            Self::Rejected(rejection) => rejection.error_type(),
            Self::Unreachable(_) => "unreachable".into(),
            Self::Busy => "busy".into(),
            Self::FirstByteTimeout(_) => "first_byte_timeout".into(),
            Self::IdleTimeout(_) => "idle_timeout".into(),
            Self::TotalTimeout(_) => "total_timeout".into(),
            Self::BrokeOff => "broke_off".into(),
            Self::UnexpectedAnswer(_) => "invalid_response".into(),
            Self::TooLarge(_) => "answer_too_large".into(),
            Self::Failed(failure) => failure_type(&failure.code).into(),
            Self::TooLong(_) => "context_length_exceeded".into(),
        }
    }
}

impl ErrorType for UpstreamRejection {
    /// The provider's code, if it has one that is known, or else the status.
    fn error_type(&self) -> Cow<'_, str> {
        let error = self.error();
        let code = error["code"].as_str().filter(|code| !code.is_empty()).and_then(known_code);
        code.map_or_else(|| self.status.as_str().to_owned(), str::to_owned).into()
    }
}

/// The class of a failed response with this code. A provider may put any text there.
pub(crate) fn failure_type(code: &str) -> &str {
    known_code(code).filter(|code| !code.is_empty()).unwrap_or("_OTHER")
}
