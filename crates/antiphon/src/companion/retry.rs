//! A request that its client makes again, because its answer did not come to an end.
//!
//! Whether the server has the first attempt is learnt from what its conversation holds. A message of it has
//! no id that the client knows, and is new where it stands last: that it is there by the first attempt is
//! told by its place.

use super::history::History;
use crate::item::{Fingerprint, FingerprintKey, Item};
use crate::transcript::{HeldItem, Transcript};

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
        let Some(tail) = tail_of(&held, &before, &self.sent) else { return Vec::new() };
        let mut rest = input.iter().enumerate();
        let mut place_of = |item: &HeldItem| {
            let says = item.fingerprint?;
            rest.find(|(_, item)| Fingerprint::of(key, item) == Some(says)).map(|(at, _)| at)
        };
        tail.iter().filter_map(|at| place_of(&held.items()[*at])).collect()
    }
}

/// Where these items are held, if they are what came last before the model's latest words, and behind all
/// that was held `before` them: the same may have been said in an earlier turn.
fn tail_of(held: &Transcript, before: &Transcript, items: &[HeldItem]) -> Option<Vec<usize>> {
    let living: Vec<usize> =
        (0..held.items().len()).filter(|at| !held.items()[*at].is_tombstone()).collect();
    let is_the_models = |at: &&usize| held.items()[**at].head.is_model_made();
    let end = living.len() - living.iter().rev().take_while(is_the_models).count();
    let begin = end.checked_sub(items.len()).filter(|_| !items.is_empty())?;
    let mut since = living[begin..].iter().map(|at| &held.items()[*at].id);
    if since.any(|id| before.position(id).is_some()) {
        return None;
    }
    let tail = &living[begin..end];
    let mut pairs = tail.iter().zip(items);
    pairs.all(|(at, item)| is_copy(&held.items()[*at], item)).then(|| tail.to_vec())
}

/// Whether two held items are one, by what both tell: the call that they are of, what they say, or their
/// ids.
fn is_copy(one: &HeldItem, two: &HeldItem) -> bool {
    let (a, b) = (&one.head, &two.head);
    a.kind == b.kind
        && a.role == b.role
        && match (&one.fingerprint, &two.fingerprint) {
            (Some(one), Some(two)) => one == two,
            _ if a.call_id.is_some() => a.call_id == b.call_id,
            _ => one.id == two.id,
        }
}
