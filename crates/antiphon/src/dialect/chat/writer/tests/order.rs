//! The order of chunks.

use serde_json::json;

use super::world::{added, call, completed, convert, created, delta, done, items, message};

#[test]
fn text_is_forwarded_immediately() {
    let mut announced = message("");
    announced["content"] = json!([]);
    let events = [
        created(),
        added(0, &announced),
        delta("output_text", 0, "Hel"),
        delta("output_text", 0, "lo"),
        done(0, &message("Hello")),
        completed(),
    ];
    let written = convert(&events);
    // The role, both deltas; the finish_reason and the usage follow.
    assert_eq!(written.live, [1, 1, 2, 3, 3, 3]);
    assert_eq!(written.deltas()[1..], [&json!({"content": "Hel"}), &json!({"content": "lo"})]);
    assert_eq!(written.events.len(), 5);
}

#[test]
fn chunks_have_response_id_and_model() {
    let written = convert(&items(&[], &completed()));
    assert_eq!(written.events[0]["id"], "chatcmpl-ours");
    assert_eq!(written.events[0]["model"], "sim");
    assert_eq!(
        written.message(),
        &json!({"role": "assistant", "content": "", "refusal": null,
        "annotations": []})
    );
}

#[test]
fn parallel_calls_interleave_with_own_indexes() {
    let arguments = |index, piece: &str| delta("function_call_arguments", index, piece);
    let events = [
        created(),
        added(0, &call("call_1", "")),
        added(1, &call("call_2", "")),
        arguments(1, r#"{"at":"#),
        arguments(0, r#"{"at":"#),
        arguments(1, "2}"),
        done(1, &call("call_2", r#"{"at":2}"#)),
        arguments(0, "1}"),
        done(0, &call("call_1", r#"{"at":1}"#)),
        completed(),
    ];
    let written = convert(&events);
    assert_eq!(written.live[..6], [1, 2, 3, 4, 5, 6]);
    let entry = |id, arguments| {
        json!({"id": id, "type": "function",
            "function": {"name": "look", "arguments": arguments}})
    };
    let calls = json!([entry("call_1", r#"{"at":1}"#), entry("call_2", r#"{"at":2}"#)]);
    assert_eq!(written.message()["tool_calls"], calls);
    assert_eq!(written.message()["content"], json!(null));
}

#[test]
fn open_call_does_not_hold_up_text() {
    let events = [
        created(),
        added(0, &call("call_1", "")),
        added(1, &message("")),
        delta("output_text", 1, "Wait."),
        done(0, &call("call_1", "{}")),
        completed(),
    ];
    assert_eq!(convert(&events).live[3], 3);
}

#[test]
fn later_message_waits_for_earlier_one() {
    let second = json!({"type": "message", "role": "assistant", "id": "msg_2", "content": []});
    let events = [
        created(),
        added(0, &message("")),
        added(1, &second),
        delta("output_text", 1, "Tw"),
        delta("output_text", 0, "One"),
        delta("output_text", 1, "o"),
        done(0, &message("One")),
        delta("output_text", 1, "."),
        completed(),
    ];
    let written = convert(&events);
    let texts: Vec<_> = written.deltas()[1..].iter().map(|delta| &delta["content"]).collect();
    assert_eq!(texts, ["One", "\n\nTwo", "."]);
    assert_eq!(written.message()["content"], "One\n\nTwo.");
}
