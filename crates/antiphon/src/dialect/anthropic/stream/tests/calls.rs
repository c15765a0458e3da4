//! `tool_use` blocks, and one id in two of them.

use serde_json::{Value, json};

use super::world::{
    INPUT, answers, block, call, delta, kinds, left_out, start, stop, text, tool_use,
};
use crate::stream::Note;

fn arguments(call: &Value) -> &str {
    call["arguments"].as_str().unwrap()
}

#[test]
fn a_call_whose_input_comes_in_pieces() {
    let told = answers("tool_use", &[call(0, "toolu_1", &["{\"at\":", " \"x\"}"])]);
    let call = told.only_item();
    assert_eq!((&call["call_id"], &call["name"]), (&json!("toolu_1"), &json!("look")));
    assert_eq!(arguments(&call), r#"{"at": "x"}"#);
    assert_eq!(told.deltas("function_call_arguments.delta"), r#"{"at": "x"}"#);
    assert_eq!(
        (&call["status"], &told.last()["type"]),
        (&json!("completed"), &json!("response.completed"))
    );
}

#[test]
fn a_call_without_input_has_no_arguments() {
    let told =
        answers("tool_use", &[call(0, "toolu_1", &[]), text(1, &["?"]), call(2, "toolu_2", &[])]);
    assert_eq!(arguments(&told.output()[0]), "{}");
    assert_eq!(arguments(&told.output()[2]), "{}");
}

#[test]
fn a_call_without_input_ends_as_soon_as_another_block_starts() {
    let told = answers("tool_use", &[call(0, "toolu_1", &[]), text(1, &["?"])]);
    let done = told.kinds().iter().position(|kind| *kind == "output_item.done");
    let spoken = told.kinds().iter().position(|kind| *kind == "output_text.delta");
    assert!(done < spoken);
}

#[test]
fn a_call_may_start_with_its_input() {
    let whole = json!({"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": 1}});
    let told = answers("tool_use", &[vec![start(0, &whole), stop(0)]]);
    assert_eq!(arguments(&told.only_item()), r#"{"at":1}"#);
}

#[test]
fn a_custom_tool_is_called_with_a_text() {
    let pieces = ["", "{\"input\": \"ls", " \\\"a\\\"\\n\"}"];
    let told = answers("tool_use", &[block(0, &tool_use("toolu_1", "shell"), INPUT, &pieces)]);
    let call = told.only_item();
    assert_eq!((&call["type"], &call["input"]), (&json!("custom_tool_call"), &json!("ls \"a\"\n")));
    assert_eq!(told.deltas("custom_tool_call_input.delta"), "ls \"a\"\n");
}

#[test]
fn a_custom_tool_that_is_called_otherwise_gets_what_was_said() {
    let said = r#"{"command":"ls"}"#;
    let told = answers("tool_use", &[block(0, &tool_use("toolu_1", "shell"), INPUT, &[said])]);
    assert_eq!(told.only_item()["input"], said);
}

#[test]
fn calls_that_interleave_are_told_apart_by_their_index() {
    let [one, two] = [(0, "toolu_1", r#"{"at":1}"#), (1, "toolu_2", r#"{"at":2}"#)]
        .map(|(index, id, input)| call(index, id, &[input]));
    let events = one.into_iter().zip(two).flat_map(|(one, two)| [one, two]).collect();
    let told = answers("tool_use", &[events]);
    let output = told.output();
    assert_eq!((arguments(&output[0]), arguments(&output[1])), (r#"{"at":1}"#, r#"{"at":2}"#));
}

#[test]
fn one_id_twice_with_one_input_is_one_call() {
    let told = answers(
        "tool_use",
        &[call(0, "toolu_1", &[r#"{"at":1}"#]), call(1, "toolu_1", &[r#"{"at": 1}"#])],
    );
    assert_eq!(arguments(&told.only_item()), r#"{"at":1}"#);
    assert_eq!(left_out(&told), ["content block 'tool_use' that repeats 'toolu_1'"]);
}

#[test]
fn one_id_twice_the_second_time_without_input_is_one_call() {
    let told =
        answers("tool_use", &[call(0, "toolu_1", &[r#"{"at":1}"#]), call(1, "toolu_1", &[])]);
    assert_eq!(arguments(&told.only_item()), r#"{"at":1}"#);
    assert_eq!(left_out(&told).len(), 1);
}

#[test]
fn one_id_twice_side_by_side_does_not_double_the_input() {
    let blocks =
        [call(0, "toolu_1", &[r#"{"at":"#, "1}"]), call(1, "toolu_1", &[r#"{"at":"#, "1}"])];
    let [one, two] = blocks;
    let events = one.into_iter().zip(two).flat_map(|(one, two)| [one, two]).collect();
    let told = answers("tool_use", &[events]);
    assert_eq!(arguments(&told.only_item()), r#"{"at":1}"#);
}

#[test]
fn one_id_twice_only_the_second_says_anything_is_one_call() {
    let first = tool_use("toolu_1", "look");
    let mut events = vec![start(0, &first)];
    events.extend(call(1, "toolu_1", &[r#"{"at":1}"#]));
    events.push(stop(0));
    let told = answers("tool_use", &[events]);
    assert_eq!(arguments(&told.only_item()), r#"{"at":1}"#);
}

#[test]
fn one_id_twice_with_two_inputs_is_two_calls() {
    let told = answers(
        "tool_use",
        &[call(0, "toolu_1", &[r#"{"at":1}"#]), call(1, "toolu_1", &[r#"{"at":2}"#])],
    );
    let output = told.output();
    assert_eq!((arguments(&output[0]), arguments(&output[1])), (r#"{"at":1}"#, r#"{"at":2}"#));
    assert_eq!(output[0]["call_id"], "toolu_1");
    assert_ne!(output[1]["call_id"], "toolu_1");
    assert!(matches!(&told.finished.notes[..], [Note::CallIdReplaced { .. }]));
}

#[test]
fn one_id_for_two_tools_is_two_calls() {
    let other = block(1, &tool_use("toolu_1", "listen"), INPUT, &["{}"]);
    let told = answers("tool_use", &[call(0, "toolu_1", &["{}"]), other]);
    let output = told.output();
    assert_eq!((&output[0]["name"], &output[1]["name"]), (&json!("look"), &json!("listen")));
    assert_ne!(output[0]["call_id"], output[1]["call_id"]);
}

#[test]
fn calls_without_an_id_are_each_one() {
    let told = answers("tool_use", &[call(0, "", &[r#"{"at":1}"#]), call(1, "", &[r#"{"at":1}"#])]);
    assert_eq!(kinds(&told), ["function_call", "function_call"]);
}

#[test]
fn a_call_that_was_cut_short_is_incomplete() {
    for pieces in [&[r#"{"at": "#][..], &[]] {
        let told = answers("max_tokens", &[text(0, &["Hm."]), call(1, "toolu_1", pieces)]);
        assert_eq!(told.output()[1]["status"], "incomplete", "{pieces:?}");
        assert_eq!(arguments(&told.output()[1]), pieces.concat());
    }
}

#[test]
fn a_call_that_was_whole_before_the_limit_is_completed() {
    let told = answers("max_tokens", &[call(0, "toolu_1", &[r#"{"at":1}"#]), text(1, &["An"])]);
    assert_eq!(told.output()[0]["status"], "completed");
    assert_eq!(told.last()["response"]["status"], "incomplete");
}

#[test]
fn a_call_that_never_stops_ends_with_the_answer() {
    let events = vec![
        start(0, &tool_use("toolu_1", "look")),
        delta(0, "input_json_delta", "partial_json", &json!(r#"{"at":1}"#)),
    ];
    let told = answers("tool_use", &[events]);
    assert_eq!(arguments(&told.only_item()), r#"{"at":1}"#);
    assert_eq!(told.only_item()["status"], "completed");
}
