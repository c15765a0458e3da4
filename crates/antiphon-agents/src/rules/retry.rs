//! Decides whether and when to retry a failed request.

use std::time::Duration;

/// The delays before the retries of a request whose conversation has another open turn.
pub const LOCKED_DELAYS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// The longest delay that a server can ask for.
pub const LONGEST_RETRY_DELAY: Duration = Duration::from_mins(1);

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
    /// Whether a consumer has received an output event of it.
    pub has_emitted_output: bool,
    /// The provider's `x-should-retry` header.
    pub should_retry: Option<bool>,
    /// The provider's `Retry-After` header.
    pub retry_after: Option<Duration>,
    /// The application's decision.
    pub verdict: RetryVerdict,
}

/// An application's decision about a failed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetryVerdict {
    /// The rules decide.
    #[default]
    ByRules,
    /// A retry is safe, also after events with output, which consumers then receive twice.
    Safe,
    /// There is no retry.
    Never,
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
    /// The application decided so.
    Verdict,
    /// No retries are left.
    Exhausted {
        /// The number of retries.
        retries: usize,
    },
    /// The server asks for a longer delay than the application allows.
    LongDelay {
        /// The delay that the server asks for.
        delay: Duration,
        /// The longest delay.
        longest: Duration,
    },
}

impl GiveUp {
    /// The error of a run that gives up after `error`.
    pub(crate) fn describe(self, error: &str) -> String {
        match self {
            Self::Exhausted { retries } if retries > 0 => {
                format!("{error} (the request failed after {retries} retries)")
            }
            Self::LongDelay { delay, longest } => format!(
                "{error} (the server asks for a delay of {} seconds, but the limit is {})",
                delay.as_secs(),
                longest.as_secs()
            ),
            Self::Exhausted { .. } | Self::OutputEmitted | Self::NotRetryable | Self::Verdict => {
                error.to_owned()
            }
        }
    }
}

/// The retries of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retries {
    locked: usize,
    others: usize,
    delays: Vec<Duration>,
    locked_delays: Vec<Duration>,
    longest_delay: Duration,
}

impl Retries {
    /// Allows one retry for each of these delays. A locked conversation has delays of its own:
    /// [`LOCKED_DELAYS`].
    pub fn new(delays: Vec<Duration>) -> Self {
        let locked_delays = LOCKED_DELAYS.to_vec();
        Self { locked: 0, others: 0, delays, locked_delays, longest_delay: LONGEST_RETRY_DELAY }
    }

    /// Allows one retry of a request to a locked conversation for each of these delays.
    #[must_use]
    pub fn with_locked_delays(self, locked_delays: Vec<Duration>) -> Self {
        Self { locked_delays, ..self }
    }

    /// Allows a server to ask for delays up to this one.
    #[must_use]
    pub fn with_longest_delay(self, longest_delay: Duration) -> Self {
        Self { longest_delay, ..self }
    }

    /// Decides about a failure of the request, and counts the granted retry.
    pub fn decide(&mut self, failed: &FailedRequest) -> RetryDecision {
        if let Some(reason) = failed.forbids() {
            return RetryDecision::GiveUp(reason);
        }
        let (tried, delays) = match failed.failure {
            FailureKind::Locked => (&mut self.locked, &self.locked_delays),
            FailureKind::Status(_) | FailureKind::Broken => (&mut self.others, &self.delays),
        };
        let Some(delay) = delays.get(*tried) else {
            return RetryDecision::GiveUp(GiveUp::Exhausted { retries: *tried });
        };
        let received = failed.retry_after.filter(|_| failed.failure != FailureKind::Locked);
        let (delay, longest) = (received.unwrap_or(*delay), self.longest_delay);
        if received.is_some() && delay > longest {
            return RetryDecision::GiveUp(GiveUp::LongDelay { delay, longest });
        }
        *tried += 1;
        RetryDecision::After(delay)
    }
}

impl FailedRequest {
    fn forbids(&self) -> Option<GiveUp> {
        match self.verdict {
            RetryVerdict::Safe => return None,
            RetryVerdict::Never => return Some(GiveUp::Verdict),
            RetryVerdict::ByRules => {}
        }
        if self.has_emitted_output {
            return Some(GiveUp::OutputEmitted);
        }
        match (self.failure, self.should_retry) {
            (FailureKind::Locked, _) | (_, Some(true)) | (FailureKind::Broken, None) => None,
            (_, Some(false)) => Some(GiveUp::NotRetryable),
            (FailureKind::Status(status), None) => {
                (!may_pass(status)).then_some(GiveUp::NotRetryable)
            }
        }
    }
}

/// Whether the provider did nothing with this status, and may succeed next time.
fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}
