//! What an upstream that keeps state says of a request that does not fit what it keeps.

pub(crate) use antiphon::faults::StateError;

use super::error::UpstreamError;

impl UpstreamError {
    /// What it says of the state, if that is what it refused: with an error, or with a response that
    /// failed.
    pub(crate) fn state_error(&self) -> Option<StateError> {
        match self {
            Self::Refused(refused) if refused.status.is_client_error() => {
                let error = refused.error();
                let text = |key: &str| error[key].as_str().unwrap_or_default();
                StateError::told(text("code"), text("message"))
            }
            Self::Failed(failure) => StateError::told(&failure.code, &failure.message),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
