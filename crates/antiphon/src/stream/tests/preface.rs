//! An item that precedes the upstream's output.

use serde_json::{Value, json};

use super::events::*;
use super::world::World;
use crate::item::Item;
use crate::stream::{Assembler, Failure, Preface};

const USAGE: &str = r#"{"input_tokens":7,"output_tokens":2,"total_tokens":9}"#;

fn compaction() -> Value {
    json!({"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAA"})
}

fn beginning(world: &World) -> Assembler {
    let item = Item::parse(compaction().to_string().into()).unwrap();
    world.assembler().with_preface(Preface::new(item, Some(USAGE.to_owned())))
}

fn apply(assembler: &mut Assembler, events: &[Value]) {
    for event in events {
        assembler.apply_event(&event.to_string().into()).unwrap();
    }
}

fn kinds(output: Vec<Value>) -> Vec<Value> {
    output.into_iter().map(|mut item| item["type"].take()).collect()
}

#[test]
fn preface_is_the_first_output_item() {
    let reply = message("msg_1", "Hello");
    let world = World::default();
    let mut assembler = beginning(&world);
    apply(&mut assembler, &[created(), added(0, &begun_message("msg_1")), done(0, &reply)]);
    let mut end = completed(&[reply]);
    end["response"]["usage"] = json!({"input_tokens": 5, "output_tokens": 1, "total_tokens": 6});
    apply(&mut assembler, &[end]);
    let received = world.ends(assembler);
    assert_eq!(kinds(received.output()), ["compaction", "message"]);
    let mut shown = compaction();
    shown["status"] = json!("completed");
    assert_eq!(received.output()[0], shown);
    let total = json!({"input_tokens": 12, "output_tokens": 3, "total_tokens": 15});
    assert_eq!(received.last()["response"]["usage"], total);
}

#[test]
fn preface_is_the_only_output_of_empty_answer() {
    let world = World::default();
    let mut assembler = beginning(&world);
    apply(&mut assembler, &[created(), completed(&[])]);
    let received = world.ends(assembler);
    assert_eq!(kinds(received.output()), ["compaction"]);
    assert_eq!(received.last()["response"]["usage"]["total_tokens"], 9);
}

#[test]
fn preface_precedes_items_of_final_output() {
    let world = World::default();
    let mut assembler = beginning(&world);
    apply(&mut assembler, &[created(), completed(&[message("msg_1", "Hello")])]);
    assert_eq!(kinds(world.ends(assembler).output()), ["compaction", "message"]);
}

#[test]
fn retry_is_possible_before_preface_is_emitted() {
    let world = World::default();
    let mut assembler = beginning(&world);
    apply(&mut assembler, &[created()]);
    assembler.fail(Failure::server_error("It broke off."));
    assert!(assembler.reset_for_retry());
    apply(&mut assembler, &[created(), completed(&[message("msg_1", "Hello")])]);
    assert_eq!(kinds(world.ends(assembler).output()), ["compaction", "message"]);
}

#[test]
fn early_failure_emits_no_preface() {
    let world = World::default();
    let mut assembler = beginning(&world);
    apply(&mut assembler, &[created()]);
    assembler.fail(Failure::server_error("It broke off."));
    let received = world.ends(assembler);
    assert_eq!(kinds(received.output()), [] as [Value; 0]);
    assert_eq!(received.last()["type"], "response.failed");
}
