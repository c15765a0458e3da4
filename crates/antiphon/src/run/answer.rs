//! Placeholder outputs for calls that no tool answered.

use crate::item::{CallKey, Item, Kind};
use crate::json::quote;
use crate::repair::repair;
use crate::tracker::{Finished, Occurrence, Tracker};

/// Creates an output with `text` for a call. `None` if its kind has no placeholder output: a
/// computer call, for example, needs a screenshot.
pub fn answer_saying(call: &CallKey, text: &str) -> Option<Item> {
    let silence = silence(call)?;
    let said = quote(text);
    Some(match call.kind {
        Kind::ToolSearchCall => silence,
        Kind::ShellCall => silence.with(|object| object.set("output", shell_output(&said))),
        _ => silence.with(|object| object.set("output", said)),
    })
}

fn shell_output(said: &str) -> String {
    format!(r#"[{{"stdout":"","stderr":{said},"outcome":{{"type":"exit","exit_code":1}}}}]"#)
}

/// The output that [`repair`] adds for a call without an output.
fn silence(call: &CallKey) -> Option<Item> {
    let (kind, call_id) = (quote(call.kind.as_str()), quote(call.call_id.as_str()));
    let asked = format!(r#"{{"type":{kind},"call_id":{call_id}}}"#);
    let asked = Item::parse(asked.into()).expect("the text above is an item");
    let is_answer = |item: &Item| call.kind.output().is_some_and(|kind| item.head().kind == kind);
    let silence = repair(&[asked]).items.into_iter().find(is_answer)?;
    Some(silence.with_call_id(&call.call_id))
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
