//! What a server calls its calls.

use serde_json::json;

use super::calls::{begun, more};
use super::{Server, called, calls, calls_of, decode, finish, of};
use crate::stream::Note;
use crate::stream::tests::world::World;

#[test]
fn an_id_may_come_late() {
    let told = decode(&[
        calls(&json!([{"index": 0, "function": {"name": "f", "arguments": ""}}])),
        calls(&json!([{"index": 0, "id": "call_1", "function": {"arguments": ""}}])),
        calls(&json!([more(0, "{}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(calls_of(&told), [("f".into(), "{}".into(), "call_1".into())]);
}

#[test]
fn an_id_that_comes_after_the_arguments_changes_nothing() {
    let told = decode(&[
        calls(&json!([{"index": 0, "function": {"name": "f", "arguments": "{\"a\""}}])),
        calls(&json!([{"index": 0, "id": "call_1", "function": {"arguments": ":1"}}])),
        calls(&json!([more(0, "}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&told), [of("f", "{\"a\":1}")]);
    assert_ne!(calls_of(&told)[0].2, "call_1");
}

#[test]
fn calls_with_empty_ids_get_ids() {
    let told = decode(&[
        calls(&json!([begun(0, "", "f", "{}"), begun(1, "", "g", "{}")])),
        finish("tool_calls"),
    ]);
    let calls = calls_of(&told);
    assert!(calls.iter().all(|(.., id)| id.starts_with("call")) && calls[0].2 != calls[1].2);
    assert!(told.finished.notes.iter().all(|note| matches!(note, Note::CallIdReplaced { .. })));
}

#[test]
fn another_id_with_every_piece_is_one_call_where_no_name_comes_with_it() {
    let piece = |id: &str, arguments: &str| json!([{"index": 0, "id": id, "function": {"arguments": arguments}}]);
    let told = decode(&[
        calls(&json!([begun(0, "call_1", "f", "{\"a\"")])),
        calls(&piece("call_2", ":1")),
        calls(&piece("call_3", "}")),
        finish("tool_calls"),
    ]);
    assert_eq!(calls_of(&told), [("f".into(), "{\"a\":1}".into(), "call_1".into())]);
}

#[test]
fn another_id_with_a_name_at_a_known_index_is_another_call() {
    let told = decode(&[
        calls(&json!([begun(0, "call_1", "f", "{\"a\":1}")])),
        calls(&json!([begun(0, "call_2", "f", "{\"a\"")])),
        calls(&json!([more(0, ":2}")])),
        finish("tool_calls"),
    ]);
    let expected = [
        ("f".into(), "{\"a\":1}".into(), "call_1".into()),
        ("f".into(), "{\"a\":2}".into(), "call_2".into()),
    ];
    assert_eq!(calls_of(&told), expected);
}

#[test]
fn one_id_for_all_calls_leaves_them_as_many_as_their_indexes() {
    let told = decode(&[
        calls(&json!([begun(0, "call", "f", "{\"a\""), begun(1, "call", "f", "{")])),
        calls(&json!([more(0, ":1}"), more(1, "}")])),
        finish("tool_calls"),
    ]);
    let calls = calls_of(&told);
    assert_eq!(called(&told), [of("f", "{\"a\":1}"), of("f", "{}")]);
    assert_eq!(calls[0].2, "call");
    assert_ne!(calls[1].2, "call");
}

#[test]
fn ids_that_restart_with_every_turn_are_replaced() {
    let held = json!({
        "type": "function_call", "id": "fc_1", "call_id": "call_0", "name": "f", "arguments": "{}"
    });
    let world = World::holding(&[held]);
    let server = Server { world, ..Server::default() };
    let told = server.says(&[calls(&json!([begun(0, "call_0", "f", "{}")])), finish("tool_calls")]);
    assert_eq!(called(&told), [of("f", "{}")]);
    assert_ne!(calls_of(&told)[0].2, "call_0");
}
