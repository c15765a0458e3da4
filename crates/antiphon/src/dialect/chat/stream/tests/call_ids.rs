//! The ids of calls.

use serde_json::json;

use super::calls::{begun, more};
use super::{Server, called, calls, calls_of, decode, finish, named_call};
use crate::stream::Note;
use crate::stream::tests::world::World;

#[test]
fn late_id_is_used() {
    let received = decode(&[
        calls(&json!([{"index": 0, "function": {"name": "f", "arguments": ""}}])),
        calls(&json!([{"index": 0, "id": "call_1", "function": {"arguments": ""}}])),
        calls(&json!([more(0, "{}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(calls_of(&received), [("f".into(), "{}".into(), "call_1".into())]);
}

#[test]
fn id_after_arguments_is_ignored() {
    let received = decode(&[
        calls(&json!([{"index": 0, "function": {"name": "f", "arguments": "{\"a\""}}])),
        calls(&json!([{"index": 0, "id": "call_1", "function": {"arguments": ":1"}}])),
        calls(&json!([more(0, "}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}")]);
    assert_ne!(calls_of(&received)[0].2, "call_1");
}

#[test]
fn calls_with_empty_ids_get_ids() {
    let received = decode(&[
        calls(&json!([begun(0, "", "f", "{}"), begun(1, "", "g", "{}")])),
        finish("tool_calls"),
    ]);
    let calls = calls_of(&received);
    assert!(calls.iter().all(|(.., id)| id.starts_with("call")) && calls[0].2 != calls[1].2);
    assert!(received.finished.notes.iter().all(|note| matches!(note, Note::CallIdReplaced { .. })));
}

#[test]
fn new_ids_without_names_are_one_call() {
    let piece = |id: &str, arguments: &str| {
        json!([{"index": 0, "id": id,
            "function": {"arguments": arguments}}])
    };
    let received = decode(&[
        calls(&json!([begun(0, "call_1", "f", "{\"a\"")])),
        calls(&piece("call_2", ":1")),
        calls(&piece("call_3", "}")),
        finish("tool_calls"),
    ]);
    assert_eq!(calls_of(&received), [("f".into(), "{\"a\":1}".into(), "call_1".into())]);
}

#[test]
fn new_id_and_name_at_index_begin_call() {
    let received = decode(&[
        calls(&json!([begun(0, "call_1", "f", "{\"a\":1}")])),
        calls(&json!([begun(0, "call_2", "f", "{\"a\"")])),
        calls(&json!([more(0, ":2}")])),
        finish("tool_calls"),
    ]);
    let expected = [
        ("f".into(), "{\"a\":1}".into(), "call_1".into()),
        ("f".into(), "{\"a\":2}".into(), "call_2".into()),
    ];
    assert_eq!(calls_of(&received), expected);
}

#[test]
fn shared_id_with_indexes_keeps_calls_separate() {
    let received = decode(&[
        calls(&json!([begun(0, "call", "f", "{\"a\""), begun(1, "call", "f", "{")])),
        calls(&json!([more(0, ":1}"), more(1, "}")])),
        finish("tool_calls"),
    ]);
    let calls = calls_of(&received);
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}"), named_call("f", "{}")]);
    assert_eq!(calls[0].2, "call");
    assert_ne!(calls[1].2, "call");
}

#[test]
fn ids_from_earlier_turns_are_replaced() {
    let held = json!({
        "type": "function_call", "id": "fc_1", "call_id": "call_0", "name": "f", "arguments": "{}"
    });
    let world = World::holding(&[held]);
    let server = Server { world, ..Server::default() };
    let received =
        server.says(&[calls(&json!([begun(0, "call_0", "f", "{}")])), finish("tool_calls")]);
    assert_eq!(called(&received), [named_call("f", "{}")]);
    assert_ne!(calls_of(&received)[0].2, "call_0");
}
