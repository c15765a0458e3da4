//! Compares a model's input with the stored items.

use crate::ledger::{Deletions, ItemRecord};
use crate::mark::Mark;

/// The expected model input of a turn, without the turn's own input.
pub(crate) enum Expected<'a> {
    /// Exactly these marks.
    All(&'a [Mark]),
    /// A prefix of these marks. The turn stored nothing, so its position is unknown.
    Some(&'a [Mark]),
}

/// The fault of a model's input. `own` is the number of its turn, `began` the time of its request.
pub(crate) fn fault(
    model_input: &[Mark],
    own: u32,
    began: u64,
    expected: &Expected<'_>,
    deletions: &Deletions,
) -> Option<String> {
    let is_gone = |mark: &Mark| {
        let deletion = deletions.get(mark);
        deletion.and_then(|deletion| deletion.done).is_some_and(|done| done < began)
    };
    if let Some(mark) = model_input.iter().find(|mark| is_gone(mark)) {
        return Some(format!("the model received {mark}, which was deleted before"));
    }
    let (Expected::All(marks) | Expected::Some(marks)) = expected;
    let is_comparable = |mark: &&Mark| mark.turn != own && !deletions.contains_key(mark);
    let comparable =
        |marks: &[Mark]| -> Vec<Mark> { marks.iter().filter(is_comparable).copied().collect() };
    let given = comparable(model_input);
    let held = comparable(marks);
    let is_right = match expected {
        Expected::All(_) => given == held,
        Expected::Some(_) => held.starts_with(&given),
    };
    (!is_right).then(|| format!("the model received {}, not {}", list(&given), list(&held)))
}

/// The marks of these items.
pub(crate) fn marks(rows: &[ItemRecord]) -> Vec<Mark> {
    rows.iter().filter_map(|row| row.mark).collect()
}

fn list(marks: &[Mark]) -> String {
    let marks: Vec<String> = marks.iter().map(ToString::to_string).collect();
    format!("[{}]", marks.join(" "))
}
