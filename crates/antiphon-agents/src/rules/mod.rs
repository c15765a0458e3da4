//! The rules of an agent's run. The state of its conversation is in a
//! [`Tracker`](antiphon::tracker::Tracker).
//!
//! Every rule is a value or a pure function, which the machine of a run asks. The runner performs
//! the actions: it calls the model, runs tools, waits, stores.
//!
//! ```
//! use std::time::Duration;
//!
//! use antiphon_agents::rules::{
//!     FailedRequest, FailureKind, Retries, RetryDecision, RetryVerdict,
//! };
//!
//! let failed = FailedRequest {
//!     failure: FailureKind::Status(503),
//!     has_emitted_output: false,
//!     should_retry: None,
//!     retry_after: Some(Duration::from_secs(7)),
//!     verdict: RetryVerdict::ByRules,
//! };
//! let mut retries = Retries::new(vec![Duration::from_millis(500)]);
//! assert_eq!(retries.decide(&failed), RetryDecision::After(Duration::from_secs(7)));
//! ```

mod calls;
mod cancellation;
mod compaction;
pub(crate) mod history;
mod outcomes;
mod retry;
mod session;
mod staging;
#[cfg(test)]
mod tests;

pub(crate) use calls::{CallAction, CallLedger};
pub use cancellation::CancelMode;
pub(crate) use compaction::{MIN_CANDIDATES, candidates};
pub use outcomes::Outcome;
pub use retry::{
    FailedRequest, FailureKind, GiveUp, LOCKED_DELAYS, LONGEST_RETRY_DELAY, Retries, RetryDecision,
    RetryVerdict,
};
pub(crate) use session::count_tail_to_pop;
pub(crate) use staging::Staging;
