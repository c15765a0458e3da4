//! A strict client of the Responses API.

use antiphon::json::Object;
use antiphon::stream::Event;
use serde_json::Value;

/// The types of the events that end a stream.
pub const TERMINAL: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];

/// The JSON of an event. It must be on one line, as an event stream requires.
#[must_use]
pub fn json(event: &Event) -> Value {
    assert!(!event.data.contains(&b'\n') && !event.data.contains(&b'\r'), "the data is one line");
    let Ok(json) = serde_json::from_slice::<Value>(&event.data) else {
        // Large numbers and lone surrogates of the upstream are forwarded unchanged.
        let object = Object::parse(&event.data).expect("an event is a JSON object");
        return Value::from_iter(["type", "sequence_number"].map(|key| {
            let raw = object.get(key).expect("every event has this field");
            (key, serde_json::from_str::<Value>(raw).expect("the gateway writes this field"))
        }));
    };
    assert_eq!(json["type"], *event.kind);
    json
}

/// Checks the guarantees of the assembler.
pub fn check(told: &[Value]) {
    let mut items = Items::default();
    for (number, event) in told.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "sequence numbers have no gap");
        let kind = event["type"].as_str().expect("an event has a type");
        let is_last = number + 1 == told.len();
        assert_eq!(TERMINAL.contains(&kind), is_last, "one terminal event, the last");
        assert_eq!(
            kind == "response.created",
            number == 0 && !is_last,
            "`response.created` is first, and once"
        );
        items.take(kind, event);
    }
    assert!(items.all_are_done(), "every item ends");
}

/// The announced items, and whether each is done.
#[derive(Default)]
struct Items {
    ids: Vec<Value>,
    done: Vec<bool>,
}

impl Items {
    fn take(&mut self, kind: &str, event: &Value) {
        match kind {
            "response.output_item.added" => {
                if event.get("output_index").is_some() {
                    assert_eq!(event["output_index"], self.ids.len(), "indexes count up");
                }
                self.ids.push(event["item"]["id"].clone());
                self.done.push(false);
            }
            "response.output_item.done" => {
                let Some(index) = self.index(event) else { return self.done_unread() };
                assert!(!self.done[index], "an item is done once");
                assert_eq!(event["item"]["id"], self.ids[index], "an item keeps its id");
                self.done[index] = true;
            }
            _ => {
                if let Some(index) = self.index(event) {
                    assert!(!self.done[index], "no delta follows the end of an item");
                }
            }
        }
    }

    fn index(&self, event: &Value) -> Option<usize> {
        let index = usize::try_from(event.get("output_index")?.as_u64()?).ok()?;
        assert!(index < self.ids.len(), "an item is added before its deltas");
        Some(index)
    }

    /// An event whose JSON does not fit into a tree of values. The item that it ends is unknown.
    fn done_unread(&mut self) {
        if let Some(done) = self.done.iter_mut().find(|done| !**done) {
            *done = true;
        }
    }

    fn all_are_done(&self) -> bool {
        self.done.iter().all(|done| *done)
    }
}
