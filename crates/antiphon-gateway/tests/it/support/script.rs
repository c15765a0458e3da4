//! Scripted answers of the upstream, and where in them something happens.

use antiphon_mock::{Answer, Frame};
use serde_json::{Value, json};

use super::ask::MODEL;

/// How many frames of the answer there are up to and with the first of this name.
pub(crate) fn frames_until(answer: &Answer, name: &str) -> usize {
    let frames = answer.frames();
    let place = frames.iter().position(|frame| frame.name() == Some(name));
    place.unwrap_or_else(|| panic!("the answer holds a {name}")) + 1
}

/// The place of the terminal event: the last before `[DONE]`.
pub(crate) fn terminal(answer: &Answer) -> usize {
    answer.frames().len() - 2
}

/// A whole stream of exactly these events between its beginning and an end that tells of `output`.
pub(crate) fn telling(events: impl IntoIterator<Item = Value>, output: &[Value]) -> Vec<Frame> {
    let model = Answer::new(MODEL).frames();
    let mut frames = model[..2].to_vec();
    let mut number = 2;
    let mut numbered = |mut event: Value| {
        event["sequence_number"] = number.into();
        number += 1;
        Frame::event(&event)
    };
    frames.extend(events.into_iter().map(&mut numbered));
    let mut end = model[2].json().expect("the end is an event");
    end["response"]["output"] = output.into();
    frames.push(numbered(end));
    frames.push(Frame::done());
    frames
}

/// `response.output_item.added` or `done`.
pub(crate) fn item_event(step: &str, index: usize, item: &Value) -> Value {
    let kind = format!("response.output_item.{step}");
    json!({"type": kind, "output_index": index, "item": item})
}

/// An event of the item `id`.
pub(crate) fn within_item(kind: &str, index: usize, id: &str, fields: Value) -> Value {
    let mut event = fields;
    event["type"] = kind.into();
    event["output_index"] = index.into();
    event["item_id"] = id.into();
    event
}
