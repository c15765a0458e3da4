//! `tool_use` blocks, and blocks that share an id.

use serde_json::{Value, json};

use super::world::{
    INPUT, answers, block, call, delta, kinds, left_out, start, stop, text, tool_use,
};
use crate::stream::Note;

fn arguments(call: &Value) -> &str {
    call["arguments"].as_str().unwrap()
}

#[test]
fn call_input_is_joined_from_deltas() {
    let received = answers("tool_use", &[call(0, "toolu_1", &["{\"at\":", " \"x\"}"])]);
    let call = received.only_item();
    assert_eq!((&call["call_id"], &call["name"]), (&json!("toolu_1"), &json!("look")));
    assert_eq!(arguments(&call), r#"{"at": "x"}"#);
    assert_eq!(received.deltas("function_call_arguments.delta"), r#"{"at": "x"}"#);
    assert_eq!(
        (&call["status"], &received.last()["type"]),
        (&json!("completed"), &json!("response.completed"))
    );
}

#[test]
fn call_without_input_has_empty_arguments() {
    let received =
        answers("tool_use", &[call(0, "toolu_1", &[]), text(1, &["?"]), call(2, "toolu_2", &[])]);
    assert_eq!(arguments(&received.output()[0]), "{}");
    assert_eq!(arguments(&received.output()[2]), "{}");
}

#[test]
fn empty_call_ends_when_next_block_starts() {
    let received = answers("tool_use", &[call(0, "toolu_1", &[]), text(1, &["?"])]);
    let done = received.kinds().iter().position(|kind| *kind == "output_item.done");
    let spoken = received.kinds().iter().position(|kind| *kind == "output_text.delta");
    assert!(done < spoken);
}

#[test]
fn call_can_start_with_its_input() {
    let whole = json!({"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": 1}});
    let received = answers("tool_use", &[vec![start(0, &whole), stop(0)]]);
    assert_eq!(arguments(&received.only_item()), r#"{"at":1}"#);
}

#[test]
fn custom_tool_call_has_text_input() {
    let pieces = ["", "{\"input\": \"ls", " \\\"a\\\"\\n\"}"];
    let received = answers("tool_use", &[block(0, &tool_use("toolu_1", "shell"), INPUT, &pieces)]);
    let call = received.only_item();
    assert_eq!((&call["type"], &call["input"]), (&json!("custom_tool_call"), &json!("ls \"a\"\n")));
    assert_eq!(received.deltas("custom_tool_call_input.delta"), "ls \"a\"\n");
}

#[test]
fn custom_tool_call_with_wrong_schema_keeps_input() {
    let message = r#"{"command":"ls"}"#;
    let received =
        answers("tool_use", &[block(0, &tool_use("toolu_1", "shell"), INPUT, &[message])]);
    assert_eq!(received.only_item()["input"], message);
}

#[test]
fn interleaved_calls_are_separated_by_index() {
    let [one, two] = [(0, "toolu_1", r#"{"at":1}"#), (1, "toolu_2", r#"{"at":2}"#)]
        .map(|(index, id, input)| call(index, id, &[input]));
    let events = one.into_iter().zip(two).flat_map(|(one, two)| [one, two]).collect();
    let received = answers("tool_use", &[events]);
    let output = received.output();
    assert_eq!((arguments(&output[0]), arguments(&output[1])), (r#"{"at":1}"#, r#"{"at":2}"#));
}

#[test]
fn repeated_id_with_same_input_is_one_call() {
    let received = answers(
        "tool_use",
        &[call(0, "toolu_1", &[r#"{"at":1}"#]), call(1, "toolu_1", &[r#"{"at": 1}"#])],
    );
    assert_eq!(arguments(&received.only_item()), r#"{"at":1}"#);
    assert_eq!(left_out(&received), ["content block 'tool_use' that repeats 'toolu_1'"]);
}

#[test]
fn repeated_id_without_second_input_is_one_call() {
    let received =
        answers("tool_use", &[call(0, "toolu_1", &[r#"{"at":1}"#]), call(1, "toolu_1", &[])]);
    assert_eq!(arguments(&received.only_item()), r#"{"at":1}"#);
    assert_eq!(left_out(&received).len(), 1);
}

#[test]
fn repeated_id_interleaved_does_not_double_input() {
    let blocks =
        [call(0, "toolu_1", &[r#"{"at":"#, "1}"]), call(1, "toolu_1", &[r#"{"at":"#, "1}"])];
    let [one, two] = blocks;
    let events = one.into_iter().zip(two).flat_map(|(one, two)| [one, two]).collect();
    let received = answers("tool_use", &[events]);
    assert_eq!(arguments(&received.only_item()), r#"{"at":1}"#);
}

#[test]
fn repeated_id_without_first_input_is_one_call() {
    let first = tool_use("toolu_1", "look");
    let mut events = vec![start(0, &first)];
    events.extend(call(1, "toolu_1", &[r#"{"at":1}"#]));
    events.push(stop(0));
    let received = answers("tool_use", &[events]);
    assert_eq!(arguments(&received.only_item()), r#"{"at":1}"#);
}

#[test]
fn repeated_id_with_different_inputs_is_two_calls() {
    let received = answers(
        "tool_use",
        &[call(0, "toolu_1", &[r#"{"at":1}"#]), call(1, "toolu_1", &[r#"{"at":2}"#])],
    );
    let output = received.output();
    assert_eq!((arguments(&output[0]), arguments(&output[1])), (r#"{"at":1}"#, r#"{"at":2}"#));
    assert_eq!(output[0]["call_id"], "toolu_1");
    assert_ne!(output[1]["call_id"], "toolu_1");
    assert!(matches!(&received.finished.notes[..], [Note::CallIdReplaced { .. }]));
}

#[test]
fn repeated_id_for_different_tools_is_two_calls() {
    let other = block(1, &tool_use("toolu_1", "listen"), INPUT, &["{}"]);
    let received = answers("tool_use", &[call(0, "toolu_1", &["{}"]), other]);
    let output = received.output();
    assert_eq!((&output[0]["name"], &output[1]["name"]), (&json!("look"), &json!("listen")));
    assert_ne!(output[0]["call_id"], output[1]["call_id"]);
}

#[test]
fn calls_without_id_are_separate() {
    let received =
        answers("tool_use", &[call(0, "", &[r#"{"at":1}"#]), call(1, "", &[r#"{"at":1}"#])]);
    assert_eq!(kinds(&received), ["function_call", "function_call"]);
}

#[test]
fn truncated_call_is_incomplete() {
    for pieces in [&[r#"{"at": "#][..], &[]] {
        let received = answers("max_tokens", &[text(0, &["Hm."]), call(1, "toolu_1", pieces)]);
        assert_eq!(received.output()[1]["status"], "incomplete", "{pieces:?}");
        assert_eq!(arguments(&received.output()[1]), pieces.concat());
    }
}

#[test]
fn complete_call_before_limit_is_completed() {
    let received = answers("max_tokens", &[call(0, "toolu_1", &[r#"{"at":1}"#]), text(1, &["An"])]);
    assert_eq!(received.output()[0]["status"], "completed");
    assert_eq!(received.last()["response"]["status"], "incomplete");
}

#[test]
fn unstopped_call_ends_with_answer() {
    let events = vec![
        start(0, &tool_use("toolu_1", "look")),
        delta(0, "input_json_delta", "partial_json", &json!(r#"{"at":1}"#)),
    ];
    let received = answers("tool_use", &[events]);
    assert_eq!(arguments(&received.only_item()), r#"{"at":1}"#);
    assert_eq!(received.only_item()["status"], "completed");
}

#[test]
fn call_with_flat_name_gets_its_namespace_back() {
    let flat = json!({"type": "tool_use", "id": "toolu_1", "name": "crm__find", "input": {}});
    let received = answers("tool_use", &[block(0, &flat, INPUT, &["{\"at\":1}"])]);
    let call = received.only_item();
    assert_eq!((&call["name"], &call["namespace"]), (&json!("find"), &json!("crm")));
    assert_eq!(arguments(&call), r#"{"at":1}"#);
}
