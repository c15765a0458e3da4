//! Handoffs of a run to another agent.

use antiphon::item::{CallKey, Item};
use antiphon::placeholder::create_failed_output;
use antiphon::tracker::Continuation;

/// The requested changes to the history at a handoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandoffOptions {
    /// A filter rewrites the input of the next agent.
    pub has_input_filter: bool,
    /// The history so far is folded into one message.
    pub nests_history: bool,
}

/// The effective options of a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// Whether to fold the history.
    pub nests_history: bool,
    /// A warning for the operator.
    pub warning: Option<HandoffWarning>,
}

/// A requested change that is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandoffWarning {
    /// A history that the server owns cannot be folded.
    #[error("history is not nested: the server owns it and gets only the new items")]
    NestingDisabled,
}

/// The reason that a handoff is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandoffError {
    /// A filter would rewrite a history that the server owns.
    #[error("a handoff's input filter cannot rewrite a history that the server owns")]
    InputFilter,
}

impl Handoff {
    /// The handoff for `continuation`; with `None` the application owns the history.
    pub fn from_options(
        continuation: Option<&Continuation>,
        options: HandoffOptions,
    ) -> Result<Self, HandoffError> {
        let HandoffOptions { has_input_filter, nests_history } = options;
        if continuation.is_none() {
            return Ok(Self { nests_history, warning: None });
        }
        if has_input_filter {
            return Err(HandoffError::InputFilter);
        }
        let warning = nests_history.then_some(HandoffWarning::NestingDisabled);
        Ok(Self { nests_history: false, warning })
    }
}

/// The output of a handoff call that was not executed.
const NOT_MADE: &str = "Another handoff was made first; this one was not.";

/// Returns the first of several handoffs in one response, which is executed, with the outputs of
/// the other calls in order.
pub fn first_handoff(calls: &[CallKey]) -> Option<(&CallKey, Vec<Item>)> {
    let (first, others) = calls.split_first()?;
    Some((first, others.iter().filter_map(|call| create_failed_output(call, NOT_MADE)).collect()))
}
