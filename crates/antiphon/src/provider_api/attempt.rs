//! Finds the items of an earlier attempt at a turn in a conversation, by their position.

use crate::transcript::{HeldItem, Transcript};

/// Returns the positions of `items` if they are the last ones before the model's latest output and
/// come after all items of `before`. Otherwise equal items may belong to an earlier turn.
pub fn find_attempt_at_tail(
    held: &Transcript,
    before: &[HeldItem],
    items: &[HeldItem],
) -> Option<Vec<usize>> {
    let living: Vec<usize> =
        (0..held.items().len()).filter(|at| !held.items()[*at].is_tombstone()).collect();
    let is_the_models = |at: &&usize| held.items()[**at].head.is_model_made();
    let end = living.len() - living.iter().rev().take_while(is_the_models).count();
    let begin = end.checked_sub(items.len()).filter(|_| !items.is_empty())?;
    let tail = &living[begin..end];
    let mut since = living[begin..].iter().map(|at| &held.items()[*at].id);
    if since.any(|id| before.iter().any(|item| item.id == *id)) {
        return None;
    }
    let is_it = |(at, item): (&usize, &HeldItem)| is_copy(&held.items()[*at], item);
    tail.iter().zip(items).all(is_it).then(|| tail.to_vec())
}

/// Returns the positions of `items` if they come after all items of `before`, possibly followed by
/// others: the first run of undeleted items that equals them. The result is only certain if the
/// items are known to have been sent, because another turn may have sent equal ones.
pub fn find_attempt_run(
    held: &Transcript,
    before: &[HeldItem],
    items: &[HeldItem],
) -> Option<Vec<usize>> {
    let end_of_before = before.iter().filter_map(|item| held.position(&item.id)).max();
    let after = end_of_before.map_or(0, |at| at + 1)..held.items().len();
    let living: Vec<usize> = after.filter(|at| !held.items()[*at].is_tombstone()).collect();
    let is_run =
        |run: &&[usize]| run.iter().zip(items).all(|(at, item)| is_copy(&held.items()[*at], item));
    living.windows(items.len().max(1)).find(is_run).filter(|_| !items.is_empty()).map(<[_]>::to_vec)
}

/// Whether two stored items are the same: by fingerprint, or else by `call_id`, or else by id.
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
