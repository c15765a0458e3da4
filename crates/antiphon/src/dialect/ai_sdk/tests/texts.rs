//! Texts, each of which becomes a message.

use serde_json::{Value, json};

use super::world::*;

fn text(kind: &str, id: &str) -> Value {
    json!({"type": format!("text-{kind}"), "id": id})
}

fn piece(id: &str, delta: &str) -> Value {
    json!({"type": "text-delta", "id": id, "delta": delta})
}

/// The texts of the messages, in order.
fn message_texts(received: &ClientView) -> Vec<String> {
    let messages = received.items("message").into_iter();
    messages
        .map(|item| item["content"][0]["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// `delta` of a model, `text` of a `fullStream`, and `textDelta` of version 4, which has no ids.
#[test]
fn delta_field_of_each_version_is_decoded() {
    for key in ["delta", "text", "textDelta"] {
        let pieces = ["Hel", "lo."].map(|piece| json!({"type": "text-delta", key: piece}));
        let received = decode(&[&pieces[..], &[finish("stop")]].concat());
        assert_eq!(message_texts(&received), ["Hello."]);
        assert_eq!(received.deltas("output_text.delta"), "Hello.");
    }
}

#[test]
fn text_delta_without_start_begins_message() {
    let received = decode(&[piece("0", "Hello."), text("end", "0"), finish("stop")]);
    assert_eq!(message_texts(&received), ["Hello."]);
}

#[test]
fn end_without_start_is_ignored() {
    assert!(decode(&[text("end", "0"), finish("stop")]).output().is_empty());
}

#[test]
fn repeated_start_is_ignored() {
    let received = decode(&[
        text("start", "0"),
        piece("0", "He"),
        text("start", "0"),
        piece("0", "y"),
        finish("stop"),
    ]);
    assert_eq!(message_texts(&received), ["Hey"]);
}

#[test]
fn several_texts_can_be_open_at_once() {
    let received = decode(&[
        text("start", "a"),
        text("start", "b"),
        piece("b", "Two"),
        piece("a", "One"),
        text("end", "b"),
        piece("a", "."),
        finish("stop"),
    ]);
    assert_eq!(message_texts(&received), ["One.", "Two"]);
}

#[test]
fn text_and_reasoning_can_share_id() {
    let reasoning =
        |kind: &str| json!({"type": format!("reasoning-{kind}"), "id": "0", "delta": "Hm."});
    let received = decode(&[
        reasoning("start"),
        reasoning("delta"),
        text("start", "0"),
        piece("0", "Hello."),
        reasoning("end"),
        text("end", "0"),
        finish("stop"),
    ]);
    assert_eq!(received.kinds(), ["reasoning", "message"]);
    assert_eq!(received.output()[0]["summary"], json!([{"type": "summary_text", "text": "Hm."}]));
    assert_eq!(message_texts(&received), ["Hello."]);
}

#[test]
fn id_reused_in_later_step_begins_text() {
    let step =
        |word: &str| [start_step(), text("start", "0"), piece("0", word), finish_step("stop")];
    let received = decode(&[&step("One")[..], &step("Two")[..], &[finish("stop")]].concat());
    assert_eq!(message_texts(&received), ["One", "Two"]);
}

#[test]
fn text_end_emits_annotations() {
    let citation = json!({"type": "url_citation", "start_index": 0, "end_index": 5,
        "url": "https://a.example", "title": "A"});
    let mut ended = text("end", "msg_1");
    ended["providerMetadata"] = json!({"azure": {"itemId": "msg_1", "annotations": [citation]}});
    let mut started = text("start", "msg_1");
    started["providerMetadata"] = json!({"azure": {"itemId": "msg_1", "phase": "final_answer"}});
    let received = decode(&[started, piece("msg_1", "Hello."), ended, finish("stop")]);
    let item = received.only_item();
    assert_eq!(item["content"][0]["annotations"], json!([citation]));
    assert_eq!((&item["id"], &item["phase"]), (&json!("msg_1"), &json!("final_answer")));
    assert_eq!(received.events_named("output_text.annotation.added").len(), 1);
}
