//! Outputs that the run makes up for calls that no tool answered.

use crate::item::{CallKey, Item, Kind};
use crate::json::quote;
use crate::repair::repair;
use crate::tracker::{Finished, Occurrence, Tracker};

/// The output that tells the model `text` in answer to a call; `None` where outputs of its kind
/// cannot be made up, such as a computer's screenshot.
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

/// What a repair answers a call with that nobody answered.
fn silence(call: &CallKey) -> Option<Item> {
    let (kind, call_id) = (quote(call.kind.as_str()), quote(call.call_id.as_str()));
    let asked = format!(r#"{{"type":{kind},"call_id":{call_id}}}"#);
    let asked = Item::parse(asked.into()).expect("the text above is an item");
    let is_answer = |item: &Item| call.kind.output().is_some_and(|kind| item.head().kind == kind);
    let silence = repair(&[asked]).items.into_iter().find(is_answer)?;
    Some(silence.with_call_id(&call.call_id))
}

/// How the calls that a run leaves behind were settled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settled {
    /// The outputs that were added.
    pub answered: Vec<Occurrence>,
    /// Calls whose output cannot be made up. The conversation cannot go on before they are
    /// answered or deleted.
    pub left_open: Vec<CallKey>,
}

/// Answers every call that the server has and nobody answered with `text`, so that the next turn of
/// the conversation is not refused for it.
///
/// On the way out of a run that stops between a call and its output, and before the first request
/// after a break. The tracker has to know what the server has: after an abort,
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
