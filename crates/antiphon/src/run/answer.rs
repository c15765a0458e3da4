//! Placeholder outputs for calls that no tool answered.

use crate::item::{CallKey, Item};
use crate::placeholder::placeholder;
use crate::tracker::{Finished, Occurrence, Tracker};

/// Creates an output with `text` for a call. `None` if its kind has no placeholder output: a
/// computer call, for example, needs a screenshot.
pub fn answer_saying(call: &CallKey, text: &str) -> Option<Item> {
    Some(placeholder(&call.kind)?.with_text(&call.call_id, text))
}

/// The result of [`settle`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settled {
    /// The outputs that were added.
    pub answered: Vec<Occurrence>,
    /// Calls that have no placeholder output. The conversation cannot continue until they are
    /// answered or deleted.
    pub left_open: Vec<CallKey>,
}

/// Adds an output with `text` for every call that the server has without an output. Otherwise the
/// provider would reject the next turn of the conversation.
///
/// Call it when a run stops between a call and its output, and before the first request after an
/// interruption. The tracker has to know the server's items: after an abort,
/// [`hydrate`](Tracker::hydrate) it first.
pub fn settle(tracker: &mut Tracker, text: &str) -> Result<Settled, Finished> {
    let mut settled = Settled::default();
    for call in tracker.unresolved().calls {
        match answer_saying(&call.key, text) {
            Some(output) => settled.answered.push(tracker.add(output)?),
            None => settled.left_open.push(call.key),
        }
    }
    Ok(settled)
}
