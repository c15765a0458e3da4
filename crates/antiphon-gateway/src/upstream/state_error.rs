//! Errors of an upstream that owns state, about requests that do not fit this state.

pub(crate) use antiphon::faults::StateError;
use antiphon::provider_api::ServerError;
use http::StatusCode;

use super::error::UpstreamError;

impl UpstreamError {
    /// The state error, if the upstream rejected the request for its state or returned a failed
    /// response for that reason.
    pub(crate) fn state_error(&self) -> Option<StateError> {
        match self {
            Self::Refused(refused) if refused.status.is_client_error() => {
                ServerError::parse(&refused.body).state_error()
            }
            Self::Failed(failure) => StateError::recognize(&failure.code, &failure.message),
            _ => None,
        }
    }

    /// Whether the server reports that it has no `noun` (`conversation`, `response`, `item`) with
    /// this id. Otherwise the server does not have the path.
    pub(crate) fn is_missing(&self, noun: &str, id: &str) -> bool {
        self.with_status(StatusCode::NOT_FOUND).is_some_and(|error| error.is_missing(noun, id))
    }

    /// Whether the server rejects the format of this id. Such a server has the path.
    pub(crate) fn rejects_id(&self, id: &str) -> bool {
        self.with_status(StatusCode::BAD_REQUEST).is_some_and(|error| error.has_id(id))
    }

    fn with_status(&self, status: StatusCode) -> Option<ServerError> {
        let Self::Refused(refused) = self else { return None };
        (refused.status == status).then(|| ServerError::parse(&refused.body))
    }
}

#[cfg(test)]
mod tests;
