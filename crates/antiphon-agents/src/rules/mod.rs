//! The rules of an agent's run. The state of its conversation is in a
//! [`Tracker`](antiphon::tracker::Tracker).
//!
//! Every rule is a value or a pure function: it takes an event and returns the next action. The
//! agent's runner performs the action: it calls the model, runs tools, waits, stores.
//!
//! ```
//! use antiphon::item::parse_items;
//! use antiphon_agents::rules::history::prune;
//!
//! // The run stopped after a call, so its stored history ends with a call without an output.
//! let history = r#"[{"role":"user","content":"Weather?"},
//!     {"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}]"#;
//! let pruned = prune(&parse_items(&history.into()).unwrap(), &[]);
//! assert_eq!((pruned.items.len(), pruned.dropped.len()), (1, 1));
//! ```

mod calls;
mod cancellation;
mod compaction;
mod creation;
mod handoff;
pub mod history;
mod outcomes;
mod replacement;
mod retry;
mod session;
mod staging;
#[cfg(test)]
mod tests;

pub use calls::{CallAction, CallError, CallLedger};
pub use cancellation::{CancelEffect, CancelMode, Cancellation, RunStep, TurnPhase};
pub use compaction::{
    CompactionDecision, CompactionMode, CompactionSource, CompactionTrigger, MIN_CANDIDATES,
    NoResponse, candidates,
};
pub use creation::{FirstWrite, WriterAction, WriterId};
pub use handoff::{Handoff, HandoffError, HandoffOptions, HandoffWarning, first_handoff};
pub use outcomes::{Outcome, OutcomeEffect, Outcomes, Settled, ToolError, settle};
pub use replacement::{Replacement, ReplacementAction, ReplacementEnd};
pub use retry::{
    FailedRequest, FailureKind, GiveUp, LOCKED_DELAYS, Retries, RetryDecision, is_output_event,
};
pub use session::{ItemSource, PreparedItem, count_tail_to_pop, find_items_to_save, find_unsaved};
pub use staging::{CommitPoint, Staging};
