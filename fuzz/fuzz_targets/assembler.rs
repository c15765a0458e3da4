//! Whatever an upstream sends, a client gets one well-formed stream.
#![no_main]

use std::collections::HashSet;

use antiphon::json::Object;
use antiphon::stream::{Assembler, Envelope, Event, Failure, Finished, Status, Taken};
use antiphon::{HeldItem, IdSource, Item, Transcript};
use antiphon_fuzz::history::KEY;
use antiphon_fuzz::stream::events;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    for encrypted in [true, false] {
        let told = heard(bytes, encrypted).told();
        check(&told);
        assert!(encrypted || !told.iter().any(shows_encrypted), "nobody asked for it");
    }
    settled(heard(bytes, true));
    whole(bytes);
});

/// An assembler and the events that it gave so far.
struct Told {
    assembler: Assembler,
    events: Vec<Event>,
}

impl Told {
    fn hear(&mut self, event: &Bytes) {
        if let Err(error) = self.assembler.hear(event) {
            self.assembler.fail(Failure::server_error(error.to_string()));
        }
        self.drain();
    }

    fn drain(&mut self) {
        self.events.extend(std::iter::from_fn(|| self.assembler.next_event()));
    }

    /// The whole stream: an upstream that has not ended it has broken off.
    fn told(mut self) -> Vec<Value> {
        self.assembler.fail(Failure::server_error("The upstream broke off."));
        self.drain();
        let finished = self.assembler.finish(NOW);
        self.events.push(finished.event.clone());
        ids_are_distinct(&finished);
        let response: Option<Value> = serde_json::from_str(&finished.response).ok();
        let told: Vec<Value> = self.events.iter().map(json).collect();
        let last = told.last().and_then(|event| event.get("response"));
        assert!(last.is_none() || last == response.as_ref(), "the last event tells the response");
        told
    }
}

fn heard(bytes: &[u8], encrypted: bool) -> Told {
    let mut told = Told { assembler: assembler(encrypted), events: Vec::new() };
    for event in events(bytes) {
        told.hear(&event);
    }
    told
}

/// The caller left: nobody is told of the end, and what is kept can be gone on from.
fn settled(told: Told) {
    let finished = told.assembler.settle(NOW);
    ids_are_distinct(&finished);
    let kept: Vec<Item> = finished.output.into_iter().filter_map(|output| output.item).collect();
    let last = kept.last().map(|item| item.head().kind.as_str());
    assert!(finished.status != Status::Cancelled || last != Some("reasoning"), "lone reasoning");
}

fn ids_are_distinct(finished: &Finished) {
    let ids: HashSet<&str> = finished.output.iter().map(|output| output.id.as_str()).collect();
    assert_eq!(ids.len(), finished.output.len(), "no id twice");
}

/// The same bytes as the answer of an upstream that does not stream.
fn whole(bytes: &[u8]) {
    let mut told = Told { assembler: assembler(true), events: Vec::new() };
    if told.assembler.hear_whole(&Bytes::copy_from_slice(bytes)).is_ok() {
        check(&told.told());
    }
}

fn assembler(encrypted: bool) -> Assembler {
    let request = Object::parse(br#"{"model":"sim"}"#).expect("it is an object");
    let envelope = Envelope::new("resp_ours", NOW, &request, None);
    Assembler::new(envelope, Taken::of(&transcript()), Box::new(Counting(0)), encrypted)
}

/// Some of what the generated streams use is taken.
fn transcript() -> Transcript {
    let held = [
        r#"{"type":"message","role":"assistant","id":"msg_1","content":"Earlier."}"#,
        r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"}"#,
    ];
    held.map(hold).into_iter().collect()
}

fn hold(text: &'static str) -> HeldItem {
    let item = Item::parse(text.into()).expect("it is an item");
    HeldItem::new(item.head().id.clone().expect("it has an id"), &item, KEY, None)
}

struct Counting(u64);

impl IdSource for Counting {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        bytes[16..].copy_from_slice(&self.0.to_be_bytes());
    }
}

const NOW: i64 = 1_770_000_000;

/// An event's JSON. It stands in one line, for that is what a stream of events takes.
fn json(event: &Event) -> Value {
    assert!(!event.data.contains(&b'\n') && !event.data.contains(&b'\r'), "an event is one line");
    let Ok(json) = serde_json::from_slice::<Value>(&event.data) else {
        // Numbers and surrogates that only raw JSON holds are passed on as they came.
        let object = Object::parse(&event.data).expect("an event is a JSON object");
        return Value::from_iter(["type", "sequence_number"].map(|key| {
            let raw = object.get(key).expect("every event has it");
            (key, serde_json::from_str::<Value>(raw).expect("it is ours"))
        }));
    };
    assert_eq!(json["type"], *event.kind);
    json
}

/// Whether the event tells of reasoning with its encrypted content. What kinds of events nobody
/// knows carry is passed on as it came.
fn shows_encrypted(event: &Value) -> bool {
    let is_shown = |item: &Value| {
        let content = item["encrypted_content"].as_str().unwrap_or_default();
        item["type"] == "reasoning" && !content.is_empty()
    };
    match event["type"].as_str() {
        Some("response.output_item.added" | "response.output_item.done") => {
            is_shown(&event["item"])
        }
        Some(kind) if TERMINAL.contains(&kind) => {
            event["response"]["output"].as_array().is_some_and(|output| output.iter().any(is_shown))
        }
        _ => false,
    }
}

const TERMINAL: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];

/// What the assembler guarantees, whatever came.
fn check(told: &[Value]) {
    let mut items = Items::default();
    for (number, event) in told.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "numbers have no gap");
        let kind = event["type"].as_str().expect("an event has a type");
        let is_last = number + 1 == told.len();
        assert_eq!(TERMINAL.contains(&kind), is_last, "one terminal event, the last");
        assert_eq!(kind == "response.created", number == 0 && !is_last, "it is created once");
        items.take(kind, event);
    }
    assert!(items.all_are_done(), "every item ends");
}

/// The items that were announced, and whether each is done.
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
                    assert!(!self.done[index], "nothing is said in an item that is done");
                }
            }
        }
    }

    fn index(&self, event: &Value) -> Option<usize> {
        let index = usize::try_from(event.get("output_index")?.as_u64()?).ok()?;
        assert!(index < self.ids.len(), "an item is announced before anything is said in it");
        Some(index)
    }

    /// An event with JSON that no tree of values holds: which item it ends cannot be seen.
    fn done_unread(&mut self) {
        if let Some(done) = self.done.iter_mut().find(|done| !**done) {
            *done = true;
        }
    }

    fn all_are_done(&self) -> bool {
        self.done.iter().all(|done| *done)
    }
}
