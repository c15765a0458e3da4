//! What a turn may leave: all of it, or its input and the items that were finished, or nothing.

use crate::ledger::{Deletions, Row, Told, Turn};

/// What is wrong with what a turn left; `rows` are its own and not empty.
pub(super) fn fault(
    turn: &Turn,
    number: u32,
    rows: &[Row],
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
    match &turn.told {
        Told::Done(_) if parts == expected(turn.items()) => None,
        Told::Done(_) => Some(format!("is not whole: its items are {parts:?}")),
        Told::Nothing | Told::Failed(_) => {
            let is_cut = (turn.inputs..=turn.items()).any(|end| parts == expected(end));
            if is_cut { half(rows) } else { Some(format!("is neither whole nor cut: {parts:?}")) }
        }
    }
}

/// What of a cut turn's items is half.
fn half(rows: &[Row]) -> Option<String> {
    let (last, before) = rows.split_last()?;
    let unfinished = |row: &Row| row.status.as_deref().is_some_and(|it| it != "completed");
    if let Some(row) = before.iter().find(|row| unfinished(row)) {
        return Some(format!("goes on behind an unfinished item: {row:?}"));
    }
    let is_half = match &*last.kind {
        "reasoning" => true,
        "message" => false,
        _ => unfinished(last),
    };
    is_half.then(|| format!("ends in half an item: {last:?}"))
}

/// The rows of a done turn's output, as they were told and as they are; deleted ones aside.
pub(super) fn is_as_told(told: &[Row], found: &[Row], deletions: &Deletions) -> bool {
    let left = |row: &&Row| row.mark.is_none_or(|mark| !deletions.contains_key(&mark));
    told.iter().filter(left).eq(found.iter().filter(left))
}
