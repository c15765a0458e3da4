//! Tool calls with indexes.

use serde_json::{Value, json};

use super::{Server, called, calls, calls_of, chunk, decode, finish, left_out, named_call, text};
use crate::stream::tests::world::World;

/// The first fragment of a call.
pub(super) fn begun(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    json!({
        "index": index, "id": id, "type": "function",
        "function": {"name": name, "arguments": arguments}
    })
}

/// A later fragment with arguments.
pub(super) fn more(index: u64, arguments: &str) -> Value {
    json!({"index": index, "function": {"arguments": arguments}})
}

#[test]
fn arguments_are_joined_from_deltas() {
    let received = decode(&[
        calls(&json!([begun(0, "call_1", "weather", "")])),
        calls(&json!([more(0, "{\"city\":")])),
        calls(&json!([more(0, "\"Rome\"}")])),
        finish("tool_calls"),
    ]);

    assert_eq!(
        calls_of(&received),
        [("weather".into(), "{\"city\":\"Rome\"}".into(), "call_1".into())]
    );
    assert_eq!(received.deltas("function_call_arguments.delta"), "{\"city\":\"Rome\"}");
    assert_eq!(received.only_item()["status"], "completed");
    assert_eq!(received.last()["type"], "response.completed");
}

#[test]
fn call_in_one_chunk_is_decoded() {
    let received =
        decode(&[calls(&json!([begun(0, "call_1", "f", "{\"a\":1}")])), finish("tool_calls")]);
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}")]);
}

#[test]
fn interleaved_calls_are_separated() {
    let received = decode(&[
        calls(&json!([begun(0, "call_1", "f", "{\"a\""), begun(1, "call_2", "g", "{")])),
        calls(&json!([more(1, "\"b\"")])),
        calls(&json!([more(0, ":1}")])),
        calls(&json!([more(1, ":2}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}"), named_call("g", "{\"b\":2}")]);
}

#[test]
fn indexes_can_start_anywhere_and_skip() {
    let received = decode(&[
        calls(&json!([begun(1, "call_1", "f", "")])),
        calls(&json!([more(1, "{}")])),
        calls(&json!([begun(7, "call_2", "g", "{\"a\"")])),
        calls(&json!([more(7, ":1}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{}"), named_call("g", "{\"a\":1}")]);
}

#[test]
fn string_index_is_accepted() {
    let piece = |fields: &Value| calls(&json!([fields]));
    let received = decode(&[
        piece(&json!({"index": "0", "id": "call_1", "function": {"name": "f", "arguments": "{"}})),
        piece(&json!({"index": "1", "id": "call_2", "function": {"name": "g", "arguments": "{"}})),
        piece(&json!({"index": "0", "function": {"arguments": "}"}})),
        piece(&json!({"index": "1", "function": {"arguments": "}"}})),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{}"), named_call("g", "{}")]);
}

#[test]
fn repeated_id_and_name_are_not_concatenated() {
    let received = decode(&[
        calls(&json!([begun(0, "call_1", "weather", "")])),
        calls(&json!([begun(0, "call_1", "weather", "")])),
        calls(&json!([begun(0, "call_1", "weather", "{\"a\"")])),
        calls(&json!([begun(0, "call_1", "weather", ":1}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(calls_of(&received), [("weather".into(), "{\"a\":1}".into(), "call_1".into())]);
}

#[test]
fn repeated_name_without_id_is_one_call() {
    let piece = |arguments: &str| {
        calls(&json!([{"index": 0, "function": {"name": "weather", "arguments": arguments}}]))
    };
    let received = decode(&[piece(""), piece("{\"a\""), piece(":1}"), finish("tool_calls")]);
    assert_eq!(called(&received), [named_call("weather", "{\"a\":1}")]);
}

#[test]
fn name_pieces_before_arguments_are_concatenated() {
    let received = decode(&[
        calls(&json!([begun(0, "call_1", "get_", "")])),
        calls(&json!([{"index": 0, "function": {"name": "weather"}}])),
        calls(&json!([more(0, "{}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("get_weather", "{}")]);
}

#[test]
fn growing_name_uses_longest_form() {
    let received = decode(&[
        calls(&json!([begun(0, "call_1", "get_", "")])),
        calls(&json!([begun(0, "call_1", "get_weather", "")])),
        calls(&json!([more(0, "{}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("get_weather", "{}")]);
}

#[test]
fn arguments_wait_for_late_name() {
    let received = decode(&[
        calls(&json!([{"index": 0, "id": "call_1"}])),
        calls(&json!([more(0, "{\"a\"")])),
        calls(&json!([more(0, ":\"\\n\"")])),
        text("Meanwhile."),
        calls(&json!([{"index": 0, "function": {"name": "f"}}])),
        calls(&json!([more(0, "}")])),
        finish("tool_calls"),
    ]);
    assert_eq!(calls_of(&received), [("f".into(), "{\"a\":\"\\n\"}".into(), "call_1".into())]);
}

#[test]
fn call_without_name_is_left_out() {
    let received = decode(&[calls(&json!([more(0, "{}")])), text("Well."), finish("tool_calls")]);
    assert_eq!(received.only_item()["type"], "message");
    assert_eq!(left_out(&received), ["a tool call without a name"]);
}

#[test]
fn new_name_after_arguments_begins_call() {
    let piece = |name: &str, arguments: &str| {
        calls(&json!([{"index": 0, "function": {"name": name, "arguments": arguments}}]))
    };
    let received = decode(&[piece("f", "{}"), piece("g", "{\"a\":1}"), finish("tool_calls")]);
    assert_eq!(called(&received), [named_call("f", "{}"), named_call("g", "{\"a\":1}")]);
}

#[test]
fn object_arguments_become_text() {
    let call = json!([{
        "index": 0, "id": "call_1", "function": {"name": "f", "arguments": {"city": "Rome \"x\""}}
    }]);
    let received = decode(&[calls(&call), finish("tool_calls")]);
    assert_eq!(called(&received), [named_call("f", r#"{"city":"Rome \"x\""}"#)]);
}

#[test]
fn function_call_without_arguments_gets_empty_object() {
    let received = decode(&[
        calls(&json!([begun(0, "call_1", "f", ""), begun(1, "call_2", "g", "")])),
        finish("tool_calls"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{}"), named_call("g", "{}")]);
}

#[test]
fn calls_end_in_order_at_end_of_answer() {
    let received = decode(&[
        calls(&json!([begun(0, "call_1", "f", "{}")])),
        calls(&json!([begun(1, "call_2", "g", "{}")])),
        finish("tool_calls"),
    ]);
    let done: Vec<&Value> = received.events_named("output_item.done");
    let names: Vec<&Value> = done.iter().map(|event| &event["item"]["name"]).collect();
    assert_eq!(names, ["f", "g"]);
}

#[test]
fn custom_call_becomes_custom_tool_call() {
    let received = decode(&[
        calls(&json!([{
            "index": 0, "id": "call_1", "type": "custom", "custom": {"name": "sql", "input": ""}
        }])),
        calls(&json!([{"index": 0, "custom": {"input": "SELECT"}}])),
        calls(&json!([{"index": 0, "custom": {"input": " 1"}}])),
        finish("tool_calls"),
    ]);
    assert_eq!(received.only_item()["type"], "custom_tool_call");
    assert_eq!(called(&received), [named_call("sql", "SELECT 1")]);
}

#[test]
fn call_to_custom_tool_is_always_custom() {
    let tools = Some(json!([{"type": "custom", "name": "sql"}]));
    let server = Server { tools, ..Server::default() };
    let received = server
        .says(&[calls(&json!([begun(0, "call_1", "sql", "SELECT 1")])), finish("tool_calls")]);
    assert_eq!(received.only_item()["type"], "custom_tool_call");
}

#[test]
fn deprecated_function_call_is_decoded() {
    let piece = |call: Value| chunk(&json!({"function_call": call}));
    let received = decode(&[
        piece(json!({"name": "f", "arguments": ""})),
        piece(json!({"arguments": "{\"a\""})),
        piece(json!({"arguments": ":1}"})),
        finish("function_call"),
    ]);
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}")]);
    assert_eq!(received.last()["type"], "response.completed");
}

#[test]
fn unknown_call_field_is_left_out() {
    let mut call = begun(0, "call_1", "f", "{}");
    call["mood"] = json!("good");
    let received = decode(&[calls(&json!([call])), finish("tool_calls")]);
    assert_eq!(left_out(&received), ["field of a tool call 'mood'"]);
}

#[test]
fn call_with_flat_name_gets_its_namespace_back() {
    let tools = json!([{"type": "namespace", "name": "crm", "tools": [
        {"type": "function", "name": "find"}, {"type": "custom", "name": "query"}]}]);
    let server = Server { tools: Some(tools), ..Server::default() };
    let received = server.says(&[
        calls(&json!([begun(0, "call_1", "crm__find", "{}")])),
        calls(&json!([begun(1, "call_2", "crm__query", "select")])),
        calls(&json!([begun(2, "call_3", "find", "{}")])),
        finish("tool_calls"),
    ]);
    let output = received.output();
    let named =
        |item: &Value| (item["type"].clone(), item["name"].clone(), item["namespace"].clone());
    let expected = [
        (json!("function_call"), json!("find"), json!("crm")),
        (json!("custom_tool_call"), json!("query"), json!("crm")),
        (json!("function_call"), json!("find"), Value::Null),
    ];
    assert_eq!(output.iter().map(named).collect::<Vec<_>>(), expected);
    let whole = server.answers(&json!({"id": "chatcmpl-1", "model": "m-1", "choices": [{
        "index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant",
            "content": null, "tool_calls": [{"id": "call_1", "type": "function",
                "function": {"name": "crm__find", "arguments": "{}"}}]}}]}));
    assert_eq!(named(&whole.only_item()), expected[0]);
}

#[test]
fn client_search_ends_with_its_arguments() {
    let tools = json!([{"type": "tool_search", "execution": "client"}]);
    let server = Server { tools: Some(tools), ..Server::default() };
    let pieces = [r#"{"que"#, r#"ry":"x"}"#];
    let search = |ending: &str| {
        let received = server.says(&[
            calls(&json!([begun(0, "call_1", "tool_search", pieces[0])])),
            calls(&json!([{"index": 0, "function": {"arguments": pieces[1]}}])),
            finish(ending),
        ]);
        let search = received.only_item();
        assert_eq!(
            (&search["type"], &search["call_id"]),
            (&json!("tool_search_call"), &json!("call_1"))
        );
        (search["status"].clone(), search["arguments"].clone())
    };
    assert_eq!(search("tool_calls"), (json!("completed"), json!({"query": "x"})));
    assert_eq!(search("length"), (json!("incomplete"), json!({"query": "x"})));
}

#[test]
fn client_search_keeps_input_that_is_no_json() {
    let tools = json!([{"type": "tool_search", "execution": "client"}]);
    let server = Server { tools: Some(tools), ..Server::default() };
    let received = server
        .says(&[calls(&json!([begun(0, "call_1", "tool_search", r#"{"que"#)])), finish("length")]);
    assert_eq!(received.only_item()["arguments"], r#"{"que"#);
}

#[test]
fn client_search_counts_as_call() {
    for choice in [json!("none"), json!({"type": "function", "name": "f"})] {
        let tools = json!([
            {"type": "tool_search", "execution": "client"}, {"type": "function", "name": "f"}]);
        let world = World::choosing(&choice);
        let server = Server { world, tools: Some(tools), ..Server::default() };
        let call = begun(0, "call_1", "tool_search", "{}");
        let received = server.says(&[calls(&json!([call])), finish("tool_calls")]);
        assert!(received.output().is_empty(), "{choice}");
    }
}
