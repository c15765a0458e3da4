//! Text blocks.

use serde_json::json;

use super::world::{answer, message_delta, message_stop};
use super::world::{
    answers, call, delta, hears, kinds, left_out, message_start, start, stop, text,
};

#[test]
fn a_text_in_pieces_is_a_message() {
    let told = answers("end_turn", &[text(0, &["Hel", "lo", ""])]);
    let message = told.only_item();
    assert_eq!(message["content"][0]["text"], "Hello");
    assert_eq!((&message["role"], &message["status"]), (&json!("assistant"), &json!("completed")));
    assert_eq!(told.of("output_text.delta").len(), 2);
    assert_eq!(told.last()["response"]["model"], "claude-up");
}

#[test]
fn a_piece_is_passed_on_in_the_escapes_that_it_came_with() {
    let mut events = answer("end_turn", &[text(0, &["marker"])]);
    events.truncate(2);
    let world = crate::stream::tests::world::World::default();
    let mut assembler = world.assembler();
    let asked = super::world::asked();
    let mut listener = crate::dialect::Listener::new(crate::dialect::Dialect::Anthropic, asked);
    for event in &events {
        listener.hear(&event.to_string().into(), &mut assembler).unwrap();
    }
    let raw = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\u00e9\/\n"}}"#;
    listener.hear(&raw.into(), &mut assembler).unwrap();
    let last = std::iter::from_fn(|| assembler.next_event()).last().unwrap();
    assert!(str::from_utf8(&last.data).unwrap().contains(r#""delta":"\u00e9\/\n""#));
}

#[test]
fn text_blocks_that_follow_each_other_are_parts_of_one_message() {
    let told = answers("end_turn", &[text(0, &["One."]), text(1, &["Two."])]);
    let message = told.only_item();
    assert_eq!(message["content"][0]["text"], "One.");
    assert_eq!(message["content"][1]["text"], "Two.");
}

#[test]
fn the_text_of_a_block_is_done_when_the_block_stops() {
    let events = [vec![message_start()], text(0, &["One."])].concat();
    assert_eq!(
        hears(&events).kinds()[..5],
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
fn a_call_between_two_texts_makes_them_two_messages() {
    let told =
        answers("end_turn", &[text(0, &["One."]), call(1, "toolu_1", &["{}"]), text(2, &["Two."])]);
    assert_eq!(kinds(&told), ["message", "function_call", "message"]);
}

#[test]
fn a_block_without_text_is_nothing() {
    let told = answers("end_turn", &[text(0, &["", ""]), text(1, &[])]);
    assert!(told.output().is_empty());
}

#[test]
fn a_block_may_start_with_its_text() {
    let told = answers(
        "end_turn",
        &[vec![
            start(0, &json!({"type": "text", "text": "Hel"})),
            delta(0, "text_delta", "text", &json!("lo")),
            stop(0),
        ]],
    );
    assert_eq!(told.only_item()["content"][0]["text"], "Hello");
}

#[test]
fn a_text_whose_block_was_never_started_starts_one() {
    let told = answers("end_turn", &[vec![delta(0, "text_delta", "text", &json!("Hi"))]]);
    assert_eq!(told.only_item()["content"][0]["text"], "Hi");
}

#[test]
fn a_block_that_starts_twice_starts_once() {
    let begun = start(0, &json!({"type": "text", "text": ""}));
    let told = answers("end_turn", &[[vec![begun], text(0, &["Hi"])].concat()]);
    assert_eq!(told.only_item()["content"][0]["text"], "Hi");
}

#[test]
fn blocks_may_all_have_one_index() {
    let told = answers("end_turn", &[text(0, &["One."]), call(0, "toolu_1", &["{}"])]);
    assert_eq!(kinds(&told), ["message", "function_call"]);
}

#[test]
fn pings_and_events_that_nobody_knows_say_nothing() {
    let mut events = vec![json!({"type": "ping"}), message_start(), json!({"type": "ping"})];
    events.extend(text(0, &["Hi"]));
    events.extend([json!({"type": "acme_news", "index": 0}), message_delta("end_turn")]);
    events.extend([json!({"type": "ping"}), message_stop(), json!({"type": "ping"})]);
    let told = hears(&events);
    assert_eq!(told.only_item()["content"][0]["text"], "Hi");
    assert!(told.finished.notes.is_empty());
}

#[test]
fn a_delta_of_an_unknown_type_is_reported_once() {
    let odd = || delta(0, "aroma_delta", "aroma", &json!("mint"));
    let mut block = text(0, &["Hi"]);
    block.splice(1..1, [odd(), odd()]);
    let told = answers("end_turn", &[block]);
    assert_eq!(told.only_item()["content"][0]["text"], "Hi");
    assert_eq!(left_out(&told), ["delta 'aroma_delta' of that content block"]);
}
