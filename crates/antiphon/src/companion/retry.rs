//! A request that its client makes again, because its answer did not come to an end.
//!
//! Whether the server has the first attempt is learnt from what its conversation holds. A message of it has
//! no id that the client knows, and is new where it stands last: that it is there by the first attempt is
//! told by its place.

use super::history::History;
use crate::item::{Fingerprint, FingerprintKey, Item};
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
}

impl Attempt {
    /// Where in the input is what the attempt brought to the conversation, which holds this now: its last
    /// words that are not a model's, and none that it held before. Items with calls are known by them.
    pub(super) fn brought(
        &self,
        history: &History,
        input: &[Item],
        key: FingerprintKey,
    ) -> Vec<usize> {
        let (held, before) = (history.transcript(), self.before.transcript());
        let Some(tail) = tail_of(&held, before.items(), &self.sent) else { return Vec::new() };
        let mut rest = input.iter().enumerate();
        let mut place_of = |item: &HeldItem| {
            let says = item.fingerprint?;
            rest.find(|(_, item)| Fingerprint::of(key, item) == Some(says)).map(|(at, _)| at)
        };
        tail.iter().filter_map(|at| place_of(&held.items()[*at])).collect()
    }
}
