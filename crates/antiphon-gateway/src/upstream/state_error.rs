//! Errors of an upstream that owns state, about requests that do not fit this state.

pub(crate) use antiphon::faults::StateError;

use super::error::UpstreamError;

impl UpstreamError {
    /// The state error, if the upstream rejected the request for its state or returned a failed
    /// response for that reason.
    pub(crate) fn state_error(&self) -> Option<StateError> {
        match self {
            Self::Refused(refused) if refused.status.is_client_error() => {
                let error = refused.error();
                let text = |key: &str| error[key].as_str().unwrap_or_default();
                StateError::recognize(text("code"), text("message"))
            }
            Self::Failed(failure) => StateError::recognize(&failure.code, &failure.message),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
