//! The allowed states of a stored turn: complete, its input and its finished items, or nothing.

use crate::ledger::{Deletions, ItemRecord, Outcome, Turn};

/// The fault of a turn's stored items. `rows` has only items of the turn and is not empty.
pub(super) fn fault(
    turn: &Turn,
    number: u32,
    rows: &[ItemRecord],
    deletions: &Deletions,
) -> Option<String> {
    let parts: Vec<usize> = rows
        .iter()
        .filter_map(|row| row.mark)
        .filter(|mark| !deletions.contains_key(mark))
        .map(|mark| usize::from(mark.part))
        .collect();
    let expected = |end: usize| -> Vec<usize> {
        let is_left =
            |part: &usize| !deletions.contains_key(&crate::mark::Mark::new(number, *part));
        (0..end).filter(is_left).collect()
    };
    match &turn.outcome {
        Outcome::Done(_) if parts == expected(turn.items()) => None,
        Outcome::Done(_) => Some(format!("is incomplete: it has the items {parts:?}")),
        Outcome::Unknown | Outcome::Failed(_) => {
            let is_cut = (turn.inputs..=turn.items()).any(|end| parts == expected(end));
            if is_cut {
                partial_item(rows)
            } else {
                Some(format!("is not complete or cut: {parts:?}"))
            }
        }
    }
}

/// Finds a partially stored item in a cut turn.
fn partial_item(rows: &[ItemRecord]) -> Option<String> {
    let (last, before) = rows.split_last()?;
    let unfinished = |row: &ItemRecord| row.status.as_deref().is_some_and(|it| it != "completed");
    if let Some(row) = before.iter().find(|row| unfinished(row)) {
        return Some(format!("continues after an unfinished item: {row:?}"));
    }
    let is_partial = match &*last.kind {
        "reasoning" => true,
        "message" => false,
        _ => unfinished(last),
    };
    is_partial.then(|| format!("ends with a partial item: {last:?}"))
}

/// Whether a completed turn's output equals the client's items, ignoring deleted items.
pub(super) fn equals_received(
    received: &[ItemRecord],
    found: &[ItemRecord],
    deletions: &Deletions,
) -> bool {
    let left = |row: &&ItemRecord| row.mark.is_none_or(|mark| !deletions.contains_key(&mark));
    received.iter().filter(left).eq(found.iter().filter(left))
}
