//! Decides whether and when to retry a failed request.

use std::time::Duration;

/// The delays before the retries of a request whose conversation has another open turn.
pub const LOCKED_DELAYS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The provider answered with the code `conversation_locked`.
    Locked,
    /// The provider answered with another error of this HTTP status.
    Status(u16),
    /// There was no answer, or the stream broke off: the provider's state is unknown.
    Broken,
}

/// A request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedRequest {
    /// The kind of the failure.
    pub failure: FailureKind,
    /// Whether it continues state that the provider owns, which a retry could change twice.
    pub is_stateful: bool,
    /// Whether a consumer has received an output event of it (see [`is_output_event`]).
    pub has_emitted_output: bool,
    /// The provider's `x-should-retry` header.
    pub should_retry: Option<bool>,
    /// The provider's `Retry-After` header.
    pub retry_after: Option<Duration>,
}

/// The action after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryDecision {
    /// Rewind the sent items, wait, then plan and send again.
    After(Duration),
    /// Fail.
    GiveUp(GiveUp),
}

/// The reason for no retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GiveUp {
    /// A consumer has received output and would receive it twice.
    OutputEmitted,
    /// The provider would answer the same.
    NotRetryable,
    /// The provider owns the state, so a retry may have its effect twice.
    UnknownSafety,
    /// No retries are left.
    Exhausted,
}

/// The retries of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retries {
    locked: usize,
    others: usize,
    delays: Vec<Duration>,
}

impl Retries {
    /// Allows one retry for each of these delays. A locked conversation has delays of its own:
    /// [`LOCKED_DELAYS`].
    pub fn new(delays: Vec<Duration>) -> Self {
        Self { delays, ..Self::default() }
    }

    /// Decides about a failure of the request, and counts the granted retry.
    pub fn decide(&mut self, failed: &FailedRequest) -> RetryDecision {
        if let Some(reason) = failed.forbids() {
            return RetryDecision::GiveUp(reason);
        }
        let (tried, delays) = match failed.failure {
            FailureKind::Locked => (&mut self.locked, &LOCKED_DELAYS[..]),
            FailureKind::Status(_) | FailureKind::Broken => (&mut self.others, &self.delays[..]),
        };
        let Some(delay) = delays.get(*tried) else {
            return RetryDecision::GiveUp(GiveUp::Exhausted);
        };
        *tried += 1;
        let received = failed.retry_after.filter(|_| failed.failure != FailureKind::Locked);
        RetryDecision::After(received.unwrap_or(*delay))
    }
}

impl FailedRequest {
    fn forbids(&self) -> Option<GiveUp> {
        if self.has_emitted_output {
            return Some(GiveUp::OutputEmitted);
        }
        match (self.failure, self.should_retry) {
            (FailureKind::Locked, _) | (_, Some(true)) => None,
            (_, Some(false)) => Some(GiveUp::NotRetryable),
            (FailureKind::Status(status), None) => {
                (!may_pass(status)).then_some(GiveUp::NotRetryable)
            }
            (FailureKind::Broken, None) => self.is_stateful.then_some(GiveUp::UnknownSafety),
        }
    }
}

/// Whether the provider did nothing with this status, and may succeed next time.
fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// Whether an event of this `type` has output. The events before it only announce the response. An
/// unknown `type` counts as output.
pub fn is_output_event(event_type: &str) -> bool {
    !matches!(
        event_type,
        "response.created"
            | "response.queued"
            | "response.in_progress"
            | "response.failed"
            | "error"
            | "keepalive"
    )
}
