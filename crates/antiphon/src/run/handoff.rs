//! Handing a run over to another agent.

use super::answer_saying;
use crate::item::{CallKey, Item};
use crate::tracker::Continuation;

/// What a handoff is asked to do with the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandoffOptions {
    /// A filter rewrites what the next agent reads.
    pub has_input_filter: bool,
    /// The history so far is folded into one message.
    pub nests_history: bool,
}

/// How the handoff goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// Whether to fold the history.
    pub nests_history: bool,
    /// What the operator should read.
    pub warning: Option<HandoffWarning>,
}

/// What was asked for and is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandoffWarning {
    /// A history that the server owns cannot be folded.
    #[error("history is not nested: the server owns it, and gets only what is new")]
    NestingDisabled,
}

/// Why the handoff cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandoffError {
    /// A filter would rewrite a history that the server owns.
    #[error("a handoff's input filter cannot rewrite a history that the server owns")]
    InputFilter,
}

impl Handoff {
    /// How a handoff goes under `continuation`; `None` is a history that the application owns.
    pub fn under(
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

/// What the model reads in answer to a handoff that was not made.
const NOT_MADE: &str = "Another handoff was made first; this one was not.";

/// Of several handoffs in one response the first is made. Returns it with the outputs that the
/// others get, in order.
pub fn first_handoff(calls: &[CallKey]) -> Option<(&CallKey, Vec<Item>)> {
    let (first, others) = calls.split_first()?;
    Some((first, others.iter().filter_map(|call| answer_saying(call, NOT_MADE)).collect()))
}
