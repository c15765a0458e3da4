//! Tool calls without indexes.

use serde_json::{Value, json};

use super::{called, calls, calls_of, decode, finish, named_call};

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

#[test]
fn calls_of_one_array_are_separated_by_id() {
    let both = json!([call("call_1", "f", "{\"a\":1}"), call("call_2", "f", "{\"a\":2}")]);
    let received = decode(&[calls(&both), finish("stop")]);
    let ids: Vec<String> = calls_of(&received).into_iter().map(|(.., id)| id).collect();
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}"), named_call("f", "{\"a\":2}")]);
    assert_eq!(ids, ["call_1", "call_2"]);
}

#[test]
fn calls_in_separate_chunks_are_separated_by_id() {
    let received = decode(&[
        calls(&json!([call("call_1", "f", "{\"a\":1}")])),
        calls(&json!([call("call_2", "f", "{\"a\":2}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}"), named_call("f", "{\"a\":2}")]);
}

#[test]
fn each_name_without_id_begins_a_call() {
    let nameless = |arguments: &str| json!([{"function": {"arguments": arguments}}]);
    let received = decode(&[
        calls(&json!([{"function": {"name": "f", "arguments": "{\"a\""}}])),
        calls(&nameless(":1}")),
        calls(&json!([{"function": {"name": "f", "arguments": ""}}])),
        calls(&nameless("{}")),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}"), named_call("f", "{}")]);
}

#[test]
fn fragments_go_to_call_with_their_id() {
    let piece =
        |id: &str, arguments: &str| json!([{"id": id, "function": {"arguments": arguments}}]);
    let received = decode(&[
        calls(&json!([call("call_1", "f", "{"), call("call_2", "g", "{")])),
        calls(&piece("call_1", "\"a\":1}")),
        calls(&piece("call_2", "}")),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}"), named_call("g", "{}")]);
}

#[test]
fn repeated_id_and_name_are_one_call() {
    let received = decode(&[
        calls(&json!([call("call_1", "f", "")])),
        calls(&json!([call("call_1", "f", "{\"a\"")])),
        calls(&json!([call("call_1", "f", ":1}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}")]);
}

#[test]
fn shared_id_in_one_array_keeps_calls_separate() {
    let received = decode(&[
        calls(&json!([call("call_1", "f", "{\"a\":1}"), call("call_1", "f", "{\"a\":2}")])),
        calls(&json!([call("call_1", "g", "{}")])),
        finish("tool_calls"),
    ]);
    let expected =
        [named_call("f", "{\"a\":1}"), named_call("f", "{\"a\":2}"), named_call("g", "{}")];
    assert_eq!(called(&received), expected);
}

#[test]
fn late_id_goes_to_call_without_id() {
    let received = decode(&[
        calls(&json!([{"function": {"name": "f"}}])),
        calls(&json!([{"id": "call_1", "function": {"arguments": "{}"}}])),
        finish("tool_calls"),
    ]);
    assert_eq!(calls_of(&received), [("f".into(), "{}".into(), "call_1".into())]);
}

#[test]
fn late_name_goes_to_call_without_name() {
    let received = decode(&[
        calls(&json!([{"id": "call_1", "function": {"arguments": "{"}}])),
        calls(&json!([{"function": {"name": "f", "arguments": "}"}}])),
        finish("tool_calls"),
    ]);
    assert_eq!(calls_of(&received), [("f".into(), "{}".into(), "call_1".into())]);
}

#[test]
fn index_from_second_fragment_on_is_accepted() {
    let received = decode(&[
        calls(&json!([call("call_1", "f", "{\"a\"")])),
        calls(&json!([{"index": 0, "function": {"arguments": ":1"}}])),
        calls(&json!([{"index": 0, "function": {"arguments": "}"}}])),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}")]);
}
