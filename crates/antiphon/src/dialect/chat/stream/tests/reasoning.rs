//! Reasoning, and its seal.

use serde_json::{Value, json};

use super::{Server, calls, chunk, decode, finish, message_text, origin, text};
use crate::dialect::{Dialect, Seal};
use crate::stream::ReasoningForm;
use crate::stream::tests::world::World;

/// The sealed content of a reasoning item.
fn sealed(item: &Value) -> Value {
    let seal = Seal::parse(item["encrypted_content"].as_str().unwrap()).unwrap();
    assert_eq!((seal.dialect, seal.origin), (Dialect::Chat, origin()));
    serde_json::from_str(&seal.content).unwrap()
}

#[test]
fn reasoning_ends_when_message_begins() {
    let received = decode(&[
        chunk(&json!({"role": "assistant", "content": null, "reasoning_content": "Let "})),
        chunk(&json!({"content": null, "reasoning_content": "me\nsee."})),
        text("Four."),
        finish("stop"),
    ]);

    let output = received.output();
    let expected = json!([{"type": "summary_text", "text": "Let me\nsee."}]);
    assert_eq!((&output[0]["type"], &output[0]["summary"]), (&json!("reasoning"), &expected));
    assert!(output[0].get("content").is_none());
    assert_eq!(output[1]["content"][0]["text"], "Four.");
    let kinds = received.kinds();
    let place = |kind| kinds.iter().position(|it| *it == kind);
    assert!(place("output_item.done") < place("output_text.delta"));
    assert_eq!(sealed(&output[0]), json!({"reasoning_content": "Let me\nsee."}));
}

/// The item and its events differ with the form, the seal does not.
#[test]
fn reasoning_has_the_configured_form() {
    let piece = |text: &str| chunk(&json!({"reasoning_content": text}));
    for (form, has_summary, has_content) in [
        (ReasoningForm::Summary, true, false),
        (ReasoningForm::Content, false, true),
        (ReasoningForm::Both, true, true),
    ] {
        let server = Server { world: World::showing(form), ..Server::default() };
        let received = server.says(&[piece("One, "), piece("two."), text("4"), finish("stop")]);

        let item = &received.output()[0];
        let part = |kind: &str| json!([{"type": kind, "text": "One, two."}]);
        let summary = if has_summary { part("summary_text") } else { json!([]) };
        let content = if has_content { part("reasoning_text") } else { Value::Null };
        assert_eq!((&item["summary"], &item["content"]), (&summary, &content));
        assert_eq!(sealed(item), json!({"reasoning_content": "One, two."}));
        for (name, is_sent) in
            [("reasoning_summary_text", has_summary), ("reasoning_text", has_content)]
        {
            let expected = if is_sent { "One, two." } else { "" };
            assert_eq!(received.deltas(&format!("{name}.delta")), expected);
        }
    }
}

#[test]
fn reasoning_is_sealed_under_original_field_name() {
    let received = decode(&[chunk(&json!({"reasoning": "Hm."})), text("Four."), finish("stop")]);
    assert_eq!(sealed(&received.output()[0]), json!({"reasoning": "Hm."}));
}

#[test]
fn duplicate_reasoning_fields_are_decoded_once() {
    let both = |text: &str| chunk(&json!({"reasoning": text, "reasoning_content": text}));
    let received = decode(&[both("One, "), both("two."), finish("stop")]);

    assert_eq!(received.only_item()["summary"][0]["text"], "One, two.");
    assert_eq!(sealed(&received.only_item()), json!({"reasoning_content": "One, two."}));
}

#[test]
fn first_reasoning_field_is_used() {
    let received = decode(&[
        chunk(&json!({"reasoning": "One, "})),
        chunk(&json!({"reasoning": "two.", "reasoning_content": "zwei."})),
        finish("stop"),
    ]);
    assert_eq!(sealed(&received.only_item()), json!({"reasoning": "One, two."}));
}

#[test]
fn resumed_reasoning_is_new_item() {
    let call = json!([{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "{}"}}]);
    let received = decode(&[
        chunk(&json!({"reasoning_content": "One."})),
        calls(&call),
        chunk(&json!({"reasoning_content": "Two."})),
        text("Done."),
        finish("tool_calls"),
    ]);

    let output = received.output();
    let kinds: Vec<&Value> = output.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["reasoning", "function_call", "reasoning", "message"]);
    assert_eq!(sealed(&output[0]), json!({"reasoning_content": "One."}));
    assert_eq!(sealed(&output[2]), json!({"reasoning_content": "Two."}));
}

#[test]
fn reasoning_precedes_content_of_one_delta() {
    let delta = json!({"content": "Four.", "reasoning_content": "Hm."});
    let received = decode(&[chunk(&delta), finish("stop")]);
    let output = received.output();
    assert_eq!((&output[0]["type"], &output[1]["type"]), (&json!("reasoning"), &json!("message")));
}

#[test]
fn reasoning_before_limit_is_sealed() {
    let received = decode(&[chunk(&json!({"reasoning_content": "Hm, "})), finish("length")]);
    assert_eq!(received.last()["type"], "response.incomplete");
    assert_eq!(sealed(&received.only_item()), json!({"reasoning_content": "Hm, "}));
}

#[test]
fn truncated_reasoning_is_not_sealed() {
    let received = decode(&[chunk(&json!({"reasoning_content": "Hm, "})), finish("error")]);
    assert_eq!(received.only_item()["encrypted_content"], Value::Null);
}

fn detail(text: &str, more: &Value) -> Value {
    let mut detail = json!({
        "type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0
    });
    let more = more.as_object().unwrap().clone();
    detail.as_object_mut().unwrap().extend(more);
    detail
}

#[test]
fn reasoning_details_are_merged_and_emitted_once() {
    let piece = |text: &str| {
        chunk(&json!({"reasoning": text, "reasoning_details": [detail(text, &json!({}))]}))
    };
    let signature = json!({
        "type": "reasoning.text", "signature": "EqQB", "format": "anthropic-claude-v1", "index": 0
    });
    let received = decode(&[
        piece("One, "),
        piece("\"two\"."),
        chunk(&json!({"reasoning": null, "reasoning_details": [signature]})),
        text("Four."),
        finish("stop"),
    ]);

    let reasoning = &received.output()[0];
    assert_eq!(reasoning["summary"][0]["text"], "One, \"two\".");
    let whole = detail("One, \"two\".", &json!({"signature": "EqQB"}));
    let expected = json!({"reasoning": "One, \"two\".", "reasoning_details": [whole]});
    assert_eq!(sealed(reasoning), expected);
    assert_eq!(message_text(&received), "Four.");
}

#[test]
fn different_details_stay_separate_in_order() {
    let details = json!([
        detail("a", &json!({"signature": "S1"})),
        detail("b", &json!({})),
        detail("c", &json!({"index": 1})),
        detail("d", &json!({"index": 1, "extra": true})),
        {"type": "reasoning.encrypted", "data": "AAA", "index": 2},
        {"type": "reasoning.encrypted", "data": "BBB", "index": 2},
        {"type": "reasoning.summary", "summary": "In short.", "id": "rs_1"},
        {"type": "reasoning.summary", "summary": "Other.", "id": "rs_2"},
    ]);
    let received = decode(&[
        chunk(&json!({"reasoning": "abcd", "reasoning_details": details})),
        finish("stop"),
    ]);
    assert_eq!(sealed(&received.only_item())["reasoning_details"], details);
}

#[test]
fn details_without_reasoning_text_are_emitted() {
    let piece = |text: &str| chunk(&json!({"reasoning_details": [detail(text, &json!({}))]}));
    let received = decode(&[piece("One, "), piece("two."), finish("stop")]);

    let whole = detail("One, two.", &json!({}));
    assert_eq!(received.only_item()["summary"][0]["text"], "One, two.");
    assert_eq!(sealed(&received.only_item()), json!({"reasoning_details": [whole]}));
}

#[test]
fn encrypted_details_with_call_precede_it() {
    let encrypted = json!({"type": "reasoning.encrypted", "data": "AAA", "id": "call_1"});
    let call = json!([{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "{}"}}]);
    let received = decode(&[
        chunk(&json!({"tool_calls": call, "reasoning_details": [encrypted]})),
        finish("tool_calls"),
    ]);

    let output = received.output();
    assert_eq!(output[1]["type"], "function_call");
    assert_eq!(sealed(&output[0]), json!({"reasoning_details": [encrypted]}));
}
