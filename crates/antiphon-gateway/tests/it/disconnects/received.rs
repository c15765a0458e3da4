//! What a caller knows of a turn that it left: what it was told.

use serde_json::{Value, json};

use crate::support::{Event, assistant, lines, output};

/// An output item as far as it was told.
#[derive(Clone, Debug)]
struct ReceivedItem {
    item: Value,
    message: String,
    done: bool,
}

/// The output items of a stream as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedOutput(Vec<ReceivedItem>);

impl ReceivedOutput {
    pub(super) fn from_events(events: &[Event]) -> Self {
        events.iter().fold(Self::default(), |mut received, event| {
            received.apply(event);
            received
        })
    }

    fn apply(&mut self, Event { name, json, .. }: &Event) {
        let index = json["output_index"].as_u64().and_then(|index| usize::try_from(index).ok());
        let Some(index) = index else { return };
        match name.as_str() {
            "response.output_item.added" => {
                let item = json["item"].clone();
                self.0.push(ReceivedItem { item, message: String::new(), done: false });
            }
            "response.output_item.done" => {
                self.0[index].item = json["item"].clone();
                self.0[index].done = true;
            }
            _ => self.0[index].message.push_str(json["delta"].as_str().unwrap_or_default()),
        }
    }

    /// How much was said: the length of all texts and arguments.
    pub(super) fn text_length(&self) -> usize {
        self.0.iter().map(|received| received.message.len()).sum()
    }

    /// What must stay of it: the finished items and a message that has begun to speak, but no
    /// reasoning that nothing follows.
    pub(super) fn expected_stored(&self) -> Vec<String> {
        let mut stays: Vec<String> =
            self.0.iter().filter_map(ReceivedItem::expected_stored).collect();
        while stays.last().is_some_and(|line| line == "reasoning") {
            stays.pop();
        }
        stays
    }

    /// All of it as the caller sends it back with its next turn, unfinished calls included.
    pub(super) fn replay(&self) -> Vec<Value> {
        self.0.iter().map(ReceivedItem::replay).collect()
    }

    /// Outputs of all calls that the caller has heard of, finished or not.
    pub(super) fn outputs(&self) -> Vec<Value> {
        let calls = self.0.iter().filter(|received| received.item["type"] == "function_call");
        calls.map(|received| output(&received.item["call_id"], "late")).collect()
    }
}

impl ReceivedItem {
    fn expected_stored(&self) -> Option<String> {
        if self.done {
            return lines(std::slice::from_ref(&self.item)).pop();
        }
        let has_begun = self.item["type"] == "message" && !self.message.is_empty();
        has_begun.then(|| format!("assistant: {}", self.message))
    }

    fn replay(&self) -> Value {
        let mut item = self.item.clone();
        if self.done {
            return item;
        }
        match item["type"].as_str() {
            Some("function_call") => item["arguments"] = self.message.as_str().into(),
            Some("message") => {
                let id = item["id"].clone();
                item = assistant(&self.message);
                item["id"] = id;
            }
            _ => item["summary"] = json!([{"type": "summary_text", "text": self.message}]),
        }
        item
    }
}

/// Whether `part` is what `whole` says, as far as it goes: the same lines in the same order, where
/// lines may be missing and a message may break off.
pub(super) fn is_part(part: &[String], whole: &[String]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|line| {
        whole.any(|other| other == line || is_message(line) && other.starts_with(line.as_str()))
    })
}

fn is_message(line: &str) -> bool {
    line.starts_with("assistant: ")
}
