//! What a model was given, held against what is kept.

use crate::ledger::{Deletions, Row};
use crate::mark::Mark;

/// What the model of a turn was to be given before the turn's own input.
pub(crate) enum Expected<'a> {
    /// All of this.
    All(&'a [Mark]),
    /// A beginning of this: nobody knows where the turn, which left nothing, would have stood.
    Some(&'a [Mark]),
}

/// What is wrong with a view. `own` is the turn that it was made for, `began` when that was sent.
pub(crate) fn fault(
    view: &[Mark],
    own: u32,
    began: u64,
    expected: &Expected<'_>,
    deletions: &Deletions,
) -> Option<String> {
    let is_gone = |mark: &Mark| {
        let deletion = deletions.get(mark);
        deletion.and_then(|deletion| deletion.done).is_some_and(|done| done < began)
    };
    if let Some(mark) = view.iter().find(|mark| is_gone(mark)) {
        return Some(format!("the model was given {mark}, which was deleted before"));
    }
    let (Expected::All(marks) | Expected::Some(marks)) = expected;
    let lasts = |mark: &&Mark| mark.turn != own && !deletions.contains_key(mark);
    let lasting = |marks: &[Mark]| -> Vec<Mark> { marks.iter().filter(lasts).copied().collect() };
    let given = lasting(view);
    let held = lasting(marks);
    let is_right = match expected {
        Expected::All(_) => given == held,
        Expected::Some(_) => held.starts_with(&given),
    };
    (!is_right).then(|| format!("the model was given {}, not {}", list(&given), list(&held)))
}

/// The marks of rows.
pub(crate) fn marks(rows: &[Row]) -> Vec<Mark> {
    rows.iter().filter_map(|row| row.mark).collect()
}

fn list(marks: &[Mark]) -> String {
    let marks: Vec<String> = marks.iter().map(ToString::to_string).collect();
    format!("[{}]", marks.join(" "))
}
