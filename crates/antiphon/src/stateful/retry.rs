//! Requests that a client repeats because their answers did not complete.
//!
//! The items of the conversation show whether the server has the first attempt. The client does not
//! know the ids of its messages, and a last message always counts as new. Therefore a message of
//! the first attempt is recognized by its position.

use super::history::History;
use crate::provider_api::find_attempt_at_tail;
use crate::transcript::HeldItem;

/// A turn that the server may or may not have.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// The digest of the request's body.
    pub(super) request: u128,
    /// The history that it was planned on.
    pub(super) before: History,
    /// The sent items.
    pub(super) sent: Vec<HeldItem>,
    /// Whether an attempt before it already stored the input, so that no item of it was sent again.
    pub(super) is_again: bool,
}

impl Attempt {
    /// Whether this attempt stored all of its input in the conversation, which now has `history`.
    ///
    /// That is so if the sent items are the last ones that are not a model's, and were not there
    /// before. The conversation had the other items of the input already.
    pub(super) fn stored_its_input(&self, history: &History) -> bool {
        let is_there = || {
            let (held, before) = (history.transcript(), self.before.transcript());
            find_attempt_at_tail(&held, before.items(), &self.sent).is_some()
        };
        self.is_again || is_there()
    }
}
