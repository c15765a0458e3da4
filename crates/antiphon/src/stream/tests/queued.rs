//! Queued and cancelled responses.

use serde_json::{Value, json};

use super::events::*;
use crate::item::IdSource;
use crate::json::Object;
use crate::stream::{Assembler, Envelope, Event, Failure, Form, Status, UsedIds, queued};

const NOW: i64 = 1_767_225_600;

struct Ones;

impl IdSource for Ones {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0x11);
    }
}

fn envelope() -> Envelope {
    let request = Object::parse(br#"{"model":"m","background":true}"#).unwrap();
    Envelope::new("resp_ours", NOW, &request, None)
}

/// The assembler of a queued response with `received` emitted events.
fn behind(received: u64) -> Assembler {
    let taken = UsedIds::from_transcript(&crate::Transcript::default());
    Assembler::new(envelope(), taken, Box::new(Ones), false).starting_after(received)
}

fn apply(assembler: &mut Assembler, event: &Value) {
    assembler.apply_event(&event.to_string().into()).unwrap();
}

fn receive(assembler: &mut Assembler) -> Vec<(Value, Value)> {
    assembler.take_events().iter().map(numbered).collect()
}

fn numbered(event: &Event) -> (Value, Value) {
    let json: Value = serde_json::from_slice(&event.data).unwrap();
    (json["type"].clone(), json["sequence_number"].clone())
}

#[test]
fn queued_response_emits_created_and_queued() {
    let events = queued(envelope(), Form::OpenAi);
    let numbers = events.each_ref().map(numbered);
    assert_eq!(numbers[0], (json!("response.created"), json!(0)));
    assert_eq!(numbers[1], (json!("response.queued"), json!(1)));
    for event in events {
        let json: Value = serde_json::from_slice(&event.data).unwrap();
        assert_eq!(json["response"]["status"], "queued");
        assert_eq!(json["response"]["background"], true);
        assert_eq!(json["response"]["output"], json!([]));
    }
}

#[test]
fn in_progress_follows_queued_once() {
    let mut assembler = behind(2);
    assembler.start();
    apply(&mut assembler, &created());
    assert_eq!(receive(&mut assembler), [(json!("response.in_progress"), json!(2))]);
    assert!(!assembler.has_emitted_output());
}

#[test]
fn initial_events_are_not_repeated() {
    let mut assembler = behind(3);
    assembler.start();
    assert_eq!(receive(&mut assembler), []);
    assert!(!assembler.has_emitted_output());
    apply(&mut assembler, &added(0, &begun_message("msg_1")));
    assert_eq!(receive(&mut assembler), [(json!("response.output_item.added"), json!(3))]);
    assert!(assembler.has_emitted_output());
}

#[test]
fn failure_after_output_takes_next_number() {
    let mut assembler = behind(7);
    assembler.fail(Failure::server_error("It ended."));
    assert_eq!(receive(&mut assembler), []);
    let finished = assembler.finish(NOW);
    assert_eq!(numbered(&finished.event), (json!("response.failed"), json!(7)));
}

#[test]
fn cancelled_response_closes_and_drops_its_items() {
    let mut assembler = behind(2);
    apply(&mut assembler, &created());
    apply(&mut assembler, &added(0, &begun_message("msg_1")));
    receive(&mut assembler);

    assembler.cancel();

    let closing = receive(&mut assembler);
    assert_eq!(closing.last().unwrap().0, "response.output_item.done");
    let finished = assembler.finish(NOW);
    let last: Value = serde_json::from_slice(&finished.event.data).unwrap();
    assert_eq!(last["type"], "response.failed");
    assert_eq!(last["response"]["status"], "cancelled");
    assert_eq!(
        (&last["response"]["output"], &last["response"]["error"]),
        (&json!([]), &json!(null))
    );
    assert_eq!((finished.status, finished.output.len()), (Status::Cancelled, 0));
}
