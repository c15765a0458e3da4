//! Calls that a request forbids.

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
fn forbidden_call_is_suppressed_and_noted() {
    for choice in [allowed("auto", &["other"]), allowed("none", &[&tool()]), json!("none")] {
        let received = World::choosing(&choice).hears(&a_streamed_call());
        assert_eq!(received.kinds(), ["completed"], "{choice}");
        assert!(received.output().is_empty());
        assert_eq!(received.finished.notes, [Note::CallSuppressed { tool: tool() }]);
    }
}

#[test]
fn forbidden_call_in_final_output_is_suppressed() {
    let choice = allowed("auto", &["other"]);
    let received = World::choosing(&choice).hears(&[completed(&[call("fc_1", CALL, "{}")])]);
    assert!(received.output().is_empty());
    assert_eq!(received.finished.notes, [Note::CallSuppressed { tool: tool() }]);
}

#[test]
fn allowed_call_is_forwarded() {
    for choice in [allowed("required", &[&tool()]), json!("auto"), json!("required")] {
        let received = World::choosing(&choice).hears(&a_streamed_call());
        assert_eq!(received.output().len(), 1, "{choice}");
        assert!(received.finished.notes.is_empty());
    }
}

#[test]
fn items_after_suppressed_call_start_at_index_zero() {
    let mut events = a_streamed_call();
    let message = message("msg_1", "Hello.");
    events.truncate(5);
    events.extend([added(1, &begun_message("msg_1")), text_delta(1, "msg_1", "Hello.")]);
    events.extend([done(1, &message), completed(&[call("fc_1", CALL, "{}"), message.clone()])]);
    let received = World::choosing(&json!("none")).hears(&events);
    assert_eq!(received.output(), [message]);
    assert_eq!(received.events_named("output_item.added")[0]["output_index"], 0);
}

/// Two calls; the second one starts before the first one has ended.
fn two_calls() -> Vec<Value> {
    let (first, second) = (call("fc_1", CALL, "{}"), call("fc_2", "call_2", "[]"));
    vec![
        created(),
        added(0, &begun_call("fc_1", CALL)),
        added(1, &begun_call("fc_2", "call_2")),
        arguments_delta(1, "fc_2", "[]"),
        arguments_delta(0, "fc_1", "{}"),
        arguments_done(1, "fc_2", "[]"),
        arguments_done(0, "fc_1", "{}"),
        done(1, &second),
        done(0, &first),
        completed(&[first, second]),
    ]
}

/// The provider's reference on `parallel_tool_calls`: the model calls at most one tool.
#[test]
fn second_parallel_call_is_suppressed_and_noted() {
    let received = World::one_call_at_a_time().hears(&two_calls());
    assert_eq!(received.output(), [call("fc_1", CALL, "{}")]);
    assert_eq!(received.finished.notes, [Note::ParallelCallSuppressed { tool: tool() }]);
    let both = two_calls().pop().unwrap();
    let received = World::one_call_at_a_time().hears(&[both]);
    assert_eq!(received.output().len(), 1);
    assert_eq!(received.finished.notes, [Note::ParallelCallSuppressed { tool: tool() }]);
}

#[test]
fn repeated_announcement_is_not_a_second_call() {
    let mut events = a_streamed_call();
    events.insert(2, added(1, &begun_call("fc_1", CALL)));
    let received = World::one_call_at_a_time().with_contradictory_upstream().hears(&events);
    assert_eq!(received.output().len(), 1);
    assert!(received.finished.notes.is_empty());
}

/// Open Responses, `tool_choice`: `required` must call, a named function is forced. The gateway
/// cannot add the missing call; it notes that it is missing.
#[test]
fn missing_required_call_is_noted() {
    let named = json!({"type": "function", "name": tool()});
    let other = json!({"type": "function", "name": "other"});
    let message = message("msg_1", "No.");
    for (choice, missing) in [(json!("required"), None), (named, Some(tool()))] {
        let received = World::choosing(&choice).hears(&[completed(std::slice::from_ref(&message))]);
        assert_eq!(received.output(), std::slice::from_ref(&message));
        assert_eq!(received.finished.notes, [Note::CallMissing { tool: missing }]);
    }
    let received = World::choosing(&other).hears(&a_streamed_call());
    let suppressed = Note::CallSuppressed { tool: tool() };
    let missing = Note::CallMissing { tool: Some("other".to_owned()) };
    assert_eq!(received.finished.notes, [suppressed, missing]);
}
