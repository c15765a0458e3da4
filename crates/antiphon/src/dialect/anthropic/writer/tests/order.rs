//! The order of blocks.

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
    assert_eq!(
        written.story(),
        [
            "message_start",
            "start 0",
            "delta 0",
            "delta 0",
            "stop 0",
            "message_delta",
            "message_stop"
        ]
    );
    assert_eq!(written.live[..5], [1, 1, 3, 4, 5]);
}

#[test]
fn message_start_has_response_id_and_model() {
    let written = convert(&items(&[], &completed()));
    let message = &written.events[0]["message"];
    assert_eq!((&message["id"], &message["model"]), (&json!("msg_ours"), &json!("sim")));
    assert_eq!(message["usage"]["output_tokens"], 0);
}

#[test]
fn interleaved_items_are_written_in_order() {
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
    // Held deltas are merged.
    let story = ["start 0", "delta 0", "delta 0", "stop 0", "start 1", "delta 1", "stop 1"];
    assert_eq!(written.story()[1..8], story);
    assert_eq!(written.events[6]["delta"]["partial_json"], r#"{"at":2}"#);
    assert_eq!(written.streamed, written.folded);
    assert_eq!(written.content()[1]["input"], json!({"at": 2}));
}

#[test]
fn ended_empty_item_blocks_no_other() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "in_progress"});
    let events = [
        created(),
        added(0, &search),
        added(1, &message("")),
        delta("output_text", 1, "Found."),
        done(0, &search),
        delta("output_text", 1, "!"),
        completed(),
    ];
    let written = convert(&events);
    assert_eq!(written.live[..6], [1, 1, 1, 1, 3, 4]);
    assert_eq!(written.content()[0]["text"], "Found.!");
}
