//! Errors of a model, for the rules of retries.

use antiphon::faults::StateError;

use super::{ModelError, ModelErrorKind};
use crate::rules::{FailedRequest, FailureKind, RetryVerdict};

/// The failed request of an error, for [`Retries::decide`](crate::rules::Retries::decide).
pub fn failed_request(error: &ModelError) -> FailedRequest {
    let is_safe = !error.may_have_arrived() && error.rejection().is_none();
    let is_refused_here =
        matches!(error.kind(), ModelErrorKind::Unsupported(_) | ModelErrorKind::InvalidRequest(_));
    let should_retry = match is_safe {
        true => Some(!is_refused_here),
        false => error.should_retry(),
    };
    FailedRequest {
        failure: failure_kind(error),
        has_emitted_output: error.has_emitted_output(),
        should_retry,
        retry_after: error.retry_after(),
        verdict: RetryVerdict::ByRules,
    }
}

fn failure_kind(error: &ModelError) -> FailureKind {
    match (error.state_error(), error.kind()) {
        (Some(StateError::Locked), _) => FailureKind::Locked,
        (_, ModelErrorKind::Rejected(rejection)) => FailureKind::Status(rejection.status),
        (_, ModelErrorKind::Failed { code, .. }) => FailureKind::Status(status_of(code)),
        _ => FailureKind::Broken,
    }
}

/// The status with which the server would have refused the request, by the code of the failure.
fn status_of(code: &str) -> u16 {
    match code {
        "rate_limit_exceeded" | "rate_limit_error" => 429,
        "server_error" | "api_error" | "overloaded_error" => 500,
        _ => 400,
    }
}
