//! A request that its client makes again, because its answer did not come to an end.
//!
//! Whether the server has the first attempt is learnt from what its conversation holds. A message of it has
//! no id that the client knows, and is new where it stands last: that it is there by the first attempt is
//! told by its place.

use super::history::History;
use crate::kept::tail_of;
use crate::transcript::HeldItem;

/// A turn of which nobody knows whether the server has it.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// The body of the request, in a digest.
    pub(super) request: u128,
    /// What it was planned on.
    pub(super) before: History,
    /// What was sent.
    pub(super) sent: Vec<HeldItem>,
    /// Whether an attempt before it brought the input, of which nothing was sent again.
    pub(super) is_again: bool,
}

impl Attempt {
    /// Whether the conversation, which holds this now, has all of the input by it: what was sent are its
    /// last words that are not a model's, and none that it held before. What else the input says was held
    /// already then.
    pub(super) fn brought_its_input(&self, history: &History) -> bool {
        let is_there = || {
            let (held, before) = (history.transcript(), self.before.transcript());
            tail_of(&held, before.items(), &self.sent).is_some()
        };
        self.is_again || is_there()
    }
}
