//! The message of an answer.

use serde_json::json;

use super::{calls, chunk, decode, finish, left_out, message_text, text};

#[test]
fn content_is_joined_from_deltas() {
    let received = decode(&[text("Hel"), text("lo\n\u{1f600} \"you\""), finish("stop")]);

    assert_eq!(message_text(&received), "Hello\n\u{1f600} \"you\"");
    assert_eq!(received.only_item()["content"][0]["text"], "Hello\n\u{1f600} \"you\"");
    assert_eq!(received.only_item()["status"], "completed");
    assert_eq!(received.last()["type"], "response.completed");
}

#[test]
fn role_chunk_begins_no_item() {
    let received = decode(&[chunk(&json!({"role": "assistant"})), finish("stop")]);
    assert!(received.output().is_empty());
}

#[test]
fn empty_or_null_delta_begins_no_item() {
    let received = decode(&[
        chunk(&json!({
            "role": "assistant", "content": "", "refusal": null, "reasoning_content": "",
            "reasoning": null, "reasoning_details": [], "tool_calls": null, "function_call": null
        })),
        chunk(&json!({"content": null, "tool_calls": []})),
        calls(&json!([{"index": 0, "id": "", "function": {"name": "", "arguments": ""}}])),
        calls(&json!([{"index": 0, "id": null, "function": {"name": null, "arguments": null}}])),
        chunk(&json!(null)),
        finish("stop"),
    ]);
    assert!(received.output().is_empty(), "{}", received.story());
    assert!(left_out(&received).is_empty());
}

#[test]
fn empty_delta_does_not_end_reasoning() {
    let received = decode(&[
        chunk(&json!({"reasoning_content": "One, "})),
        chunk(&json!({"content": "", "tool_calls": [{"index": 0, "function": {"arguments": ""}}]})),
        chunk(&json!({"reasoning_content": "two."})),
        finish("stop"),
    ]);
    assert_eq!(received.only_item()["summary"][0]["text"], "One, two.");
}

#[test]
fn refusal_becomes_refusal_part() {
    let received = decode(&[
        chunk(&json!({"role": "assistant", "content": null, "refusal": ""})),
        chunk(&json!({"refusal": "I can"})),
        chunk(&json!({"refusal": "not."})),
        finish("stop"),
    ]);
    assert_eq!(
        received.only_item()["content"],
        json!([{"type": "refusal", "refusal": "I cannot."}])
    );
}

#[test]
fn refusal_after_content_is_second_part() {
    let received = decode(&[
        text("Well. "),
        chunk(&json!({"refusal": "No."})),
        text("Sorry."),
        finish("stop"),
    ]);
    let content = &received.only_item()["content"];
    assert_eq!(content[0]["text"], "Well. Sorry.");
    assert_eq!(content[1]["refusal"], "No.");
}

#[test]
fn refusal_before_content_is_first_part() {
    let received = decode(&[chunk(&json!({"refusal": "No."})), text("Sorry."), finish("stop")]);
    let content = &received.only_item()["content"];
    assert_eq!(content[0]["refusal"], "No.");
    assert_eq!(content[1]["text"], "Sorry.");
}

#[test]
fn content_list_is_decoded() {
    let received = decode(&[
        chunk(&json!({"content": [
            {"type": "text", "text": "Hello"}, {"type": "image_url", "image_url": {"url": "x"}}
        ]})),
        finish("stop"),
    ]);
    assert_eq!(message_text(&received), "Hello");
    assert_eq!(left_out(&received), ["content part 'image_url'"]);
}

#[test]
fn message_continues_after_a_call() {
    let call = json!([{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "{}"}}]);
    let received = decode(&[text("One."), calls(&call), text(" Two."), finish("tool_calls")]);

    let output = received.output();
    assert_eq!(output.len(), 2);
    assert_eq!(output[0]["content"][0]["text"], "One. Two.");
    assert_eq!(output[1]["arguments"], "{}");
}

#[test]
fn citation_gets_responses_form() {
    let citation = json!({"type": "url_citation", "url_citation": {
        "start_index": 3, "end_index": 9, "url": "https://a.example/", "title": "A"
    }});
    let received =
        decode(&[text("It is so."), chunk(&json!({"annotations": [citation]})), finish("stop")]);

    let expected = json!({
        "type": "url_citation", "start_index": 3, "end_index": 9,
        "url": "https://a.example/", "title": "A"
    });
    assert_eq!(received.events_named("output_text.annotation.added")[0]["annotation"], expected);
    assert_eq!(received.only_item()["content"][0]["annotations"], json!([expected]));
}

#[test]
fn citations_are_numbered_across_chunks() {
    let citation = |url: &str| {
        chunk(&json!({"content": "x", "annotations": [
            {"type": "url_citation", "url_citation": {"url": url}}
        ]}))
    };
    let received =
        decode(&[citation("https://a.example/"), citation("https://b.example/"), finish("stop")]);

    let events = received.events_named("output_text.annotation.added");
    assert_eq!(events[0]["annotation_index"], 0);
    assert_eq!(events[1]["annotation_index"], 1);
    let expected = json!({
        "type": "url_citation", "start_index": 0, "end_index": 0,
        "url": "https://b.example/", "title": ""
    });
    assert_eq!(events[1]["annotation"], expected);
}

#[test]
fn unsupported_annotation_is_left_out() {
    let file = json!({"type": "file", "file": {"hash": "1", "name": "a.pdf"}});
    let received = decode(&[text("So."), chunk(&json!({"annotations": [file]})), finish("stop")]);
    assert_eq!(left_out(&received), ["annotation 'file'"]);
}

#[test]
fn audio_is_left_out_and_reported_once() {
    let audio = || chunk(&json!({"audio": {"id": "audio_1", "data": "AAAA"}}));
    let received = decode(&[audio(), audio(), text("Hello"), finish("stop")]);

    assert_eq!(left_out(&received), ["field of a message 'audio'"]);
    assert_eq!(message_text(&received), "Hello");
}

#[test]
fn unknown_fields_are_noted_up_to_bound() {
    let odd = |number: usize| chunk(&json!({format!("odd_{number}"): 1}));
    let mut chunks: Vec<_> = (0..100).map(odd).collect();
    chunks.push(finish("stop"));
    assert_eq!(left_out(&decode(&chunks)).len(), 32);
}

#[test]
fn known_field_of_wrong_type_is_left_out() {
    let received =
        decode(&[chunk(&json!({"content": {"text": "Hm"}, "reasoning": 7})), finish("stop")]);
    let noted = ["field of a message 'content'", "field of a message 'reasoning'"];
    assert_eq!(left_out(&received), noted);
}

#[test]
fn unrequested_logprobs_are_left_out() {
    let mut with = text("Hi");
    with["choices"][0]["logprobs"] = json!({"content": [{"token": "Hi", "logprob": -0.1}]});
    let mut without = text("!");
    without["choices"][0]["logprobs"] = json!({"content": null, "refusal": null});
    let received = decode(&[without, with, finish("stop")]);

    assert_eq!(left_out(&received), ["logprobs"]);
    assert_eq!(received.events_named("output_text.delta")[1]["logprobs"], json!([]));
}
