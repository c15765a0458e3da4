//! The order of a response's events.

use serde_json::{Value, json};

use super::answer::{Answer, Step};
use super::output::Output;
use super::{Frame, Split, response};

/// Created, `in_progress`, then per item (added, parts and deltas, done), then the one terminal
/// event and `[DONE]`. Inserted events and bytes stay at their place between the items.
pub(super) fn frames(answer: &Answer) -> Vec<Frame> {
    let mut lifecycle = Lifecycle::default();
    let opened = response::in_progress(answer);
    lifecycle.emit(json!({"type": "response.created", "response": opened}));
    lifecycle.emit(json!({"type": "response.in_progress", "response": opened}));
    lifecycle.steps(answer);
    let name = answer.ending.event();
    lifecycle.emit(json!({"type": name, "response": response::ended(answer)}));
    lifecycle.frames.push(Frame::done());
    lifecycle.frames
}

#[derive(Default)]
struct Lifecycle {
    frames: Vec<Frame>,
    next_sequence_number: u64,
}

impl Lifecycle {
    fn steps(&mut self, answer: &Answer) {
        let mut items = answer.items().into_iter();
        for step in &answer.steps {
            match step {
                Step::Item(..) => {
                    items.by_ref().take(1).for_each(|it| self.item(&it, answer.split));
                }
                Step::Event(event) => self.emit(event.clone()),
                Step::Raw(bytes) => self.frames.push(Frame::raw(bytes.clone())),
            }
        }
    }

    fn item(&mut self, output: &Output<'_>, split: Split) {
        let index = output.index;
        self.emit(json!({
            "type": "response.output_item.added",
            "output_index": index,
            "item": output.opened(),
        }));
        for mut event in output.events(split) {
            event["item_id"] = output.id.as_str().into();
            event["output_index"] = index.into();
            self.emit(event);
        }
        self.emit(json!({
            "type": "response.output_item.done",
            "output_index": index,
            "item": output.closed(),
        }));
    }

    /// Numbers the event, unless it has a number already.
    fn emit(&mut self, mut event: Value) {
        if event["sequence_number"].is_null() {
            event["sequence_number"] = self.next_sequence_number.into();
        }
        self.next_sequence_number += 1;
        self.frames.push(Frame::event(&event));
    }
}
