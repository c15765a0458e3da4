//! The order of a stream's events.
//!
//! Source: the Open Responses specification, and what the official clients raise on.

use std::collections::HashMap;

use serde_json::Value;

use super::events::Event;
use super::schema::assert_response_shape;

/// How a response begins whose caller waits for it.
const FOREGROUND: [&str; 2] = ["response.created", "response.in_progress"];
/// How one begins in the background.
const QUEUED: [&str; 3] = ["response.created", "response.queued", "response.in_progress"];

/// Checks a whole stream against every law of the wire; the response that it ended in.
pub(super) fn assert_lawful(events: &[Event]) -> Value {
    assert_numbered_without_gaps(events);
    assert_one_response(events);
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    let begun = if names[1] == "response.queued" { &QUEUED[..] } else { &FOREGROUND[..] };
    assert_eq!(&names[..begun.len()], begun);
    let (last, body) = events[begun.len()..].split_last().expect("a stream has an end");
    let mut items = Items::default();
    for event in body {
        items.follow(event);
    }
    let response = ended(last);
    if response["status"] == "cancelled" {
        assert_eq!(response["output"], serde_json::json!([]), "nothing stays of what is cancelled");
    } else {
        items.assert_output_is_complete(&response);
    }
    assert_response_shape(&response);
    response
}

fn assert_numbered_without_gaps(events: &[Event]) {
    let numbers: Vec<Option<u64>> =
        events.iter().map(|event| event.json["sequence_number"].as_u64()).collect();
    let expected: Vec<Option<u64>> = (0..).map(Some).take(events.len()).collect();
    assert_eq!(numbers, expected, "sequence numbers");
}

fn assert_one_response(events: &[Event]) {
    let ids = events.iter().map(|event| &event.json["response"]["id"]);
    let ids: Vec<&Value> = ids.filter(|id| !id.is_null()).collect();
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "{ids:?}");
}

fn ended(last: &Event) -> Value {
    let response = last.json["response"].clone();
    let status = match last.name.as_str() {
        "response.completed" => "completed",
        "response.incomplete" => "incomplete",
        "response.failed" if response["status"] == "cancelled" => "cancelled",
        "response.failed" => "failed",
        other => panic!("{other} is no end"),
    };
    assert_eq!(response["status"], status);
    response
}

/// The output items, by their index.
#[derive(Default)]
struct Items(Vec<Item>);

struct Item {
    added: Value,
    done: Option<Value>,
    /// What was said, by the place in the item: deltas joined.
    message: HashMap<String, String>,
    open_parts: Vec<u64>,
}

impl Items {
    fn follow(&mut self, event: &Event) {
        let json = &event.json;
        let Some(index) = json["output_index"].as_u64() else {
            let is_extension = event.name.contains(':');
            assert!(is_extension, "{} stands among the items", event.name);
            return;
        };
        let index = usize::try_from(index).expect("it is small");
        match event.name.as_str() {
            "response.output_item.added" => self.add(index, &json["item"]),
            "response.output_item.done" => self.item(index, &json["item"]["id"]).end(&json["item"]),
            name => self.item(index, &json["item_id"]).apply(name, json),
        }
    }

    fn add(&mut self, index: usize, item: &Value) {
        assert_eq!(index, self.0.len(), "indexes count up");
        assert_identified(item);
        let same = |other: &Item| other.added["id"] == item["id"];
        assert!(!self.0.iter().any(same), "an id is used once: {item}");
        self.0.push(Item {
            added: item.clone(),
            done: None,
            message: HashMap::new(),
            open_parts: Vec::new(),
        });
    }

    fn item(&mut self, index: usize, id: &Value) -> &mut Item {
        let item = self.0.get_mut(index).expect("an item is added first");
        assert_eq!(item.added["id"], *id, "an item keeps its id");
        assert!(item.done.is_none(), "nothing follows an item's end");
        item
    }

    fn assert_output_is_complete(&self, response: &Value) {
        let done: Vec<&Value> = self.0.iter().filter_map(|item| item.done.as_ref()).collect();
        assert_eq!(done.len(), self.0.len(), "every item is done");
        let output: Vec<&Value> = response["output"].as_array().into_iter().flatten().collect();
        assert_eq!(output, done, "the response ends with the items that were told");
    }
}

impl Item {
    fn apply(&mut self, name: &str, json: &Value) {
        match name {
            "response.content_part.added" => self.open_part(json),
            "response.content_part.done" => self.close_part(json),
            _ if json["content_index"].is_u64() => self.is_open(json),
            _ => {}
        }
        let place = |suffix: &str| {
            let index = (&json["content_index"], &json["summary_index"]);
            Some(format!("{} {index:?}", name.strip_suffix(suffix)?))
        };
        if let (Some(place), Some(delta)) = (place(".delta"), json["delta"].as_str()) {
            self.message.entry(place).or_default().push_str(delta);
        } else if let (Some(place), Some(whole)) = (place(".done"), final_text(json)) {
            let message = self.message.remove(&place).unwrap_or_default();
            assert_eq!(message, whole, "deltas add up to {name}");
        }
    }

    fn open_part(&mut self, json: &Value) {
        let index = json["content_index"].as_u64().expect("a part has an index");
        assert!(!self.open_parts.contains(&index), "a part is added once");
        self.open_parts.push(index);
    }

    fn close_part(&mut self, json: &Value) {
        self.is_open(json);
        self.open_parts.retain(|index| json["content_index"] != *index);
    }

    fn is_open(&self, json: &Value) {
        let index = json["content_index"].as_u64().expect("a part has an index");
        assert!(self.open_parts.contains(&index), "a part is added first");
    }

    fn end(&mut self, item: &Value) {
        for same in ["id", "type", "call_id", "name", "role"] {
            assert_eq!(self.added[same], item[same], "{same} stays");
        }
        assert_identified(item);
        assert!(self.open_parts.is_empty(), "every part is done before its item");
        assert_ne!(item["status"], "in_progress", "an item that is done is not in progress");
        self.done = Some(item.clone());
    }
}

/// What every item carries, whatever its type.
fn assert_identified(item: &Value) {
    for key in ["id", "type", "status"] {
        assert!(item[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {item}");
    }
}

fn final_text(json: &Value) -> Option<&str> {
    ["text", "refusal", "arguments", "input"].iter().find_map(|field| json[*field].as_str())
}
