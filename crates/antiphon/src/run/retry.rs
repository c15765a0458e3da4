//! Whether a request that failed goes again, and when.

use std::time::Duration;

/// How long to wait before each retry of a request that met another open turn of its conversation.
pub const LOCKED_DELAYS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// How a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The provider answered with the code `conversation_locked`.
    Locked,
    /// The provider answered with another error of this HTTP status.
    Status(u16),
    /// No answer came, or the stream broke off: nobody knows what the provider did.
    Broken,
}

/// A request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// How.
    pub failure: Failure,
    /// Whether it continues state that the provider owns, which a replay might change twice.
    pub is_stateful: bool,
    /// Whether a consumer has seen an output event of it (see [`is_output_event`]).
    pub has_emitted_output: bool,
    /// What the provider's `x-should-retry` says, where it says something.
    pub should_retry: Option<bool>,
    /// What the provider's `Retry-After` says.
    pub retry_after: Option<Duration>,
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryDecision {
    /// Rewind what was sent, wait, then plan and send anew.
    After(Duration),
    /// Fail.
    GiveUp(GiveUp),
}

/// Why a request does not go again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUp {
    /// A consumer has seen output: it would see it twice.
    OutputEmitted,
    /// The provider would answer the same.
    NotRetryable,
    /// The provider owns the state, and nobody knows whether a replay is safe.
    UnknownSafety,
    /// It was tried often enough.
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
    /// Retries with these delays, one for each, where the conversation is not locked. A lock has
    /// delays of its own: [`LOCKED_DELAYS`].
    pub fn new(delays: Vec<Duration>) -> Self {
        Self { delays, ..Self::default() }
    }

    /// The request failed once more. Counts the retry that it grants.
    pub fn decide(&mut self, failed: &Failed) -> RetryDecision {
        if let Some(reason) = failed.forbids() {
            return RetryDecision::GiveUp(reason);
        }
        let (tried, delays) = match failed.failure {
            Failure::Locked => (&mut self.locked, &LOCKED_DELAYS[..]),
            Failure::Status(_) | Failure::Broken => (&mut self.others, &self.delays[..]),
        };
        let Some(delay) = delays.get(*tried) else {
            return RetryDecision::GiveUp(GiveUp::Exhausted);
        };
        *tried += 1;
        let told = failed.retry_after.filter(|_| failed.failure != Failure::Locked);
        RetryDecision::After(told.unwrap_or(*delay))
    }
}

impl Failed {
    fn forbids(&self) -> Option<GiveUp> {
        if self.has_emitted_output {
            return Some(GiveUp::OutputEmitted);
        }
        match (self.failure, self.should_retry) {
            (Failure::Locked, _) | (_, Some(true)) => None,
            (_, Some(false)) => Some(GiveUp::NotRetryable),
            (Failure::Status(status), None) => (!may_pass(status)).then_some(GiveUp::NotRetryable),
            (Failure::Broken, None) => self.is_stateful.then_some(GiveUp::UnknownSafety),
        }
    }
}

/// Statuses by which a provider says that it did nothing, and may do it next time.
fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// Whether a consumer that has seen an event of this `type` has seen output. Before that, events
/// only announce the response. A `type` that nobody knows counts as output.
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
