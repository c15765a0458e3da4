//! Calls that a request rules out.

use serde_json::{Value, json};

use super::events::*;
use super::world::World;
use crate::stream::Note;

const CALL: &str = "call_1";

fn allowed(mode: &str, tools: &[&str]) -> Value {
    let tools: Vec<Value> =
        tools.iter().map(|name| json!({"type": "function", "name": name})).collect();
    json!({"type": "allowed_tools", "mode": mode, "tools": tools})
}

fn tool() -> String {
    call("fc_1", CALL, "{}")["name"].as_str().unwrap().to_owned()
}

fn a_streamed_call() -> Vec<Value> {
    let ended = call("fc_1", CALL, "{}");
    vec![
        created(),
        added(0, &begun_call("fc_1", CALL)),
        arguments_delta(0, "fc_1", "{}"),
        arguments_done(0, "fc_1", "{}"),
        done(0, &ended),
        completed(&[ended]),
    ]
}

/// Open Responses, `allowed_tools`: a hard constraint; a call to another tool is suppressed.
#[test]
fn a_call_that_is_ruled_out_leaves_no_trace_but_a_note() {
    for choice in [allowed("auto", &["other"]), allowed("none", &[&tool()]), json!("none")] {
        let told = World::choosing(&choice).hears(&a_streamed_call());
        assert_eq!(told.kinds(), ["completed"], "{choice}");
        assert!(told.output().is_empty());
        assert_eq!(told.finished.notes, [Note::CallSuppressed { tool: tool() }]);
    }
}

#[test]
fn a_call_that_only_the_finished_response_tells_of_is_ruled_out_too() {
    let choice = allowed("auto", &["other"]);
    let told = World::choosing(&choice).hears(&[completed(&[call("fc_1", CALL, "{}")])]);
    assert!(told.output().is_empty());
    assert_eq!(told.finished.notes, [Note::CallSuppressed { tool: tool() }]);
}

#[test]
fn a_call_that_is_allowed_passes() {
    for choice in [allowed("required", &[&tool()]), json!("auto"), json!("required")] {
        let told = World::choosing(&choice).hears(&a_streamed_call());
        assert_eq!(told.output().len(), 1, "{choice}");
        assert!(told.finished.notes.is_empty());
    }
}

#[test]
fn what_stands_beside_a_suppressed_call_stays_and_counts_from_nought() {
    let mut events = a_streamed_call();
    let message = message("msg_1", "Hello.");
    events.truncate(5);
    events.extend([added(1, &begun_message("msg_1")), text_delta(1, "msg_1", "Hello.")]);
    events.extend([done(1, &message), completed(&[call("fc_1", CALL, "{}"), message.clone()])]);
    let told = World::choosing(&json!("none")).hears(&events);
    assert_eq!(told.output(), [message]);
    assert_eq!(told.of("output_item.added")[0]["output_index"], 0);
}
