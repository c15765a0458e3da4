//! The rules of an agent's run. The state of its conversation is in a
//! [`Tracker`](crate::tracker::Tracker).
//!
//! Every rule is a value or a pure function: it takes an event and returns the next action. The
//! agent's runner performs the action: it calls the model, runs tools, waits, stores.
//!
//! ```
//! use antiphon::item::parse_items;
//! use antiphon::run::history::prune;
//!
//! // The run stopped after a call, so its stored history ends with a call without an output.
//! let history = r#"[{"role":"user","content":"Weather?"},
//!     {"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}]"#;
//! let pruned = prune(&parse_items(&history.into()).unwrap(), &[]);
//! assert_eq!((pruned.items.len(), pruned.dropped.len()), (1, 1));
//! ```

mod answer;
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

pub use answer::{Settled, answer_saying, settle};
pub use calls::{Begun, CallError, CallLedger};
pub use cancellation::{CancelEffect, CancelMode, Cancellation, Phase, Step};
pub use compaction::{
    CompactionMode, CompactionSource, CompactionTrigger, Decision, NoResponse, TRIGGER, candidates,
};
pub use creation::{FirstWrite, Turn, Writer};
pub use handoff::{Handoff, HandoffError, HandoffOptions, HandoffWarning, first_handoff};
pub use outcomes::{Outcome, OutcomeEffect, Outcomes, ToolError};
pub use replacement::{Action, Ended, Replacement};
pub use retry::{Failed, Failure, GiveUp, LOCKED_DELAYS, Retries, RetryDecision, is_output_event};
pub use session::{Prepared, Source, tail_to_pop, to_save, unsaved};
pub use staging::{CommitPoint, Staging};
