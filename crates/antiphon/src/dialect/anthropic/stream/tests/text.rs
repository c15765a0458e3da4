//! Text blocks.

use serde_json::json;

use super::world::{answer, message_delta, message_stop};
use super::world::{
    answers, call, decode, delta, kinds, left_out, message_start, start, stop, text,
};

#[test]
fn text_deltas_form_one_message() {
    let received = answers("end_turn", &[text(0, &["Hel", "lo", ""])]);
    let message = received.only_item();
    assert_eq!(message["content"][0]["text"], "Hello");
    assert_eq!((&message["role"], &message["status"]), (&json!("assistant"), &json!("completed")));
    assert_eq!(received.events_named("output_text.delta").len(), 2);
    assert_eq!(received.last()["response"]["model"], "claude-up");
}

#[test]
fn delta_keeps_its_escapes() {
    let mut events = answer("end_turn", &[text(0, &["marker"])]);
    events.truncate(2);
    let world = crate::stream::tests::world::World::default();
    let mut assembler = world.assembler();
    let context = super::world::context();
    let mut decoder =
        crate::dialect::StreamDecoder::new(crate::dialect::Dialect::Anthropic, context);
    for event in &events {
        decoder.decode(&event.to_string().into(), &mut assembler).unwrap();
    }
    let raw = concat!(
        r#"{"type":"content_block_delta","index":0,"#,
        r#""delta":{"type":"text_delta","text":"\u00e9\/\n"}}"#,
    );
    decoder.decode(&raw.into(), &mut assembler).unwrap();
    let last = std::iter::from_fn(|| assembler.next_event()).last().unwrap();
    assert!(str::from_utf8(&last.data).unwrap().contains(r#""delta":"\u00e9\/\n""#));
}

#[test]
fn consecutive_text_blocks_are_parts_of_one_message() {
    let received = answers("end_turn", &[text(0, &["One."]), text(1, &["Two."])]);
    let message = received.only_item();
    assert_eq!(message["content"][0]["text"], "One.");
    assert_eq!(message["content"][1]["text"], "Two.");
}

#[test]
fn text_part_ends_when_block_stops() {
    let events = [vec![message_start()], text(0, &["One."])].concat();
    assert_eq!(
        decode(&events).kinds()[..5],
        [
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.done",
            "content_part.done"
        ]
    );
}

#[test]
fn call_between_texts_separates_messages() {
    let received =
        answers("end_turn", &[text(0, &["One."]), call(1, "toolu_1", &["{}"]), text(2, &["Two."])]);
    assert_eq!(kinds(&received), ["message", "function_call", "message"]);
}

#[test]
fn empty_text_block_is_dropped() {
    let received = answers("end_turn", &[text(0, &["", ""]), text(1, &[])]);
    assert!(received.output().is_empty());
}

#[test]
fn text_block_can_start_with_text() {
    let received = answers(
        "end_turn",
        &[vec![
            start(0, &json!({"type": "text", "text": "Hel"})),
            delta(0, "text_delta", "text", &json!("lo")),
            stop(0),
        ]],
    );
    assert_eq!(received.only_item()["content"][0]["text"], "Hello");
}

#[test]
fn text_delta_without_start_opens_block() {
    let received = answers("end_turn", &[vec![delta(0, "text_delta", "text", &json!("Hi"))]]);
    assert_eq!(received.only_item()["content"][0]["text"], "Hi");
}

#[test]
fn repeated_block_start_is_ignored() {
    let begun = start(0, &json!({"type": "text", "text": ""}));
    let received = answers("end_turn", &[[vec![begun], text(0, &["Hi"])].concat()]);
    assert_eq!(received.only_item()["content"][0]["text"], "Hi");
}

#[test]
fn consecutive_blocks_can_share_index() {
    let received = answers("end_turn", &[text(0, &["One."]), call(0, "toolu_1", &["{}"])]);
    assert_eq!(kinds(&received), ["message", "function_call"]);
}

#[test]
fn pings_and_unknown_events_are_ignored() {
    let mut events = vec![json!({"type": "ping"}), message_start(), json!({"type": "ping"})];
    events.extend(text(0, &["Hi"]));
    events.extend([json!({"type": "acme_news", "index": 0}), message_delta("end_turn")]);
    events.extend([json!({"type": "ping"}), message_stop(), json!({"type": "ping"})]);
    let received = decode(&events);
    assert_eq!(received.only_item()["content"][0]["text"], "Hi");
    assert!(received.finished.notes.is_empty());
}

#[test]
fn unknown_delta_type_is_reported_once() {
    let odd = || delta(0, "aroma_delta", "aroma", &json!("mint"));
    let mut block = text(0, &["Hi"]);
    block.splice(1..1, [odd(), odd()]);
    let received = answers("end_turn", &[block]);
    assert_eq!(received.only_item()["content"][0]["text"], "Hi");
    assert_eq!(left_out(&received), ["delta 'aroma_delta' of that content block"]);
}
