//! Calls and outputs of one function.

use super::{Action, assert_accepted, input_refusal, left_of, refusal, repairs, texts};
use crate::item::given::{assistant, call, call_under, item, output, reasoning, reference, user};
use crate::repair::{OnOutputWithoutCall, Policy, repair_with};

#[test]
fn unanswered_call_gets_a_placeholder() {
    let given = [user("hi"), call_under("fc_1", "call_1", "{}"), user("Are you there?")];
    assert_eq!(refusal(&given), input_refusal("No tool output found for function call call_1."));
    assert_eq!(repairs(&given), [(1, "unanswered_call", Action::Answered)]);
    let left = left_of(&given);
    let placeholder = concat!(
        r#"{"type":"function_call_output","call_id":"call_1","#,
        r#""output":"No output was recorded for this call."}"#,
    );
    assert_eq!(texts(&left), [given[0].text(), given[1].text(), placeholder, given[2].text()]);
}

#[test]
fn placeholder_goes_after_all_parallel_calls() {
    let given = [
        call("call_1", "{}"),
        reasoning("rs_1"),
        call("call_2", "{}"),
        output("call_2", "ok"),
        user("hi"),
    ];
    let left = left_of(&given);
    assert_eq!(left.len(), 6);
    assert_eq!(texts(&left)[..3], texts(&given)[..3]);
    assert_eq!(left[3].head().call_id, Some("call_1".into()));
    assert_eq!(texts(&left)[4..], texts(&given)[3..]);
}

#[test]
fn cut_short_call_is_dropped_with_its_reasoning() {
    let cut = item(
        r#"{"type":"function_call","id":"fc_1","status":"incomplete","call_id":"call_1",
            "name":"get_weather","arguments":"{\"ci"}"#,
    );
    let given = [user("hi"), reasoning("rs_1"), cut, user("Are you there?")];
    assert_eq!(refusal(&given), input_refusal("No tool output found for function call call_1."));
    assert_eq!(
        repairs(&given),
        [(2, "unanswered_call", Action::Dropped), (1, "lone_reasoning", Action::Dropped)]
    );
    assert_eq!(texts(&left_of(&given)), [given[0].text(), given[3].text()]);
}

#[test]
fn answered_call_stays_with_any_status() {
    let running = item(
        r#"{"type":"function_call","status":"in_progress","call_id":"call_1","name":"f",
            "arguments":"{}"}"#,
    );
    assert_accepted(&[user("hi"), running, output("call_1", "ok")]);
}

#[test]
fn output_without_call_is_dropped() {
    let given = [user("hi"), output("call_1", "ok"), user("bye")];
    assert_eq!(
        refusal(&given),
        input_refusal("No tool call found for function call output with call_id call_1.")
    );
    assert_eq!(repairs(&given), [(1, "output_without_call", Action::Dropped)]);
    assert_eq!(texts(&left_of(&given)), [given[0].text(), given[2].text()]);
}

#[test]
fn output_before_its_call_answers_nothing() {
    let given = [output("call_1", "ok"), call("call_1", "{}")];
    assert_eq!(
        repairs(&given),
        [(0, "output_without_call", Action::Dropped), (1, "unanswered_call", Action::Answered)]
    );
}

#[test]
fn output_answers_only_calls_of_its_kind() {
    let custom = item(r#"{"type":"custom_tool_call","call_id":"call_1","name":"f","input":""}"#);
    let given = [custom, output("call_1", "ok")];
    assert_eq!(
        repairs(&given),
        [(0, "unanswered_call", Action::Answered), (1, "output_without_call", Action::Dropped)]
    );
}

#[test]
fn late_output_answers_its_call() {
    assert_accepted(&[
        call("call_1", "{}"),
        user("Never mind."),
        assistant("msg_1", "Fine."),
        output("call_1", "ok"),
    ]);
}

#[test]
fn repeated_output_is_dropped() {
    let given = [call("call_1", "{}"), output("call_1", "ok"), output("call_1", "ok")];
    assert_eq!(
        refusal(&given),
        input_refusal(
            "Duplicate function call output found with call_id call_1. Remove duplicate items \
             from your input and try again."
        )
    );
    assert_eq!(repairs(&given), [(2, "duplicate_output", Action::Dropped)]);
    assert_eq!(texts(&left_of(&given)), texts(&given[..2]));
}

#[test]
fn later_of_two_outputs_stays() {
    let given = [call("call_1", "{}"), output("call_1", "running"), output("call_1", "done")];
    assert_eq!(repairs(&given), [(1, "duplicate_output", Action::Replaced)]);
    assert_eq!(texts(&left_of(&given)), [given[0].text(), given[2].text()]);
}

#[test]
fn copy_of_a_call_is_dropped() {
    let given = [
        call_under("fc_1", "call_1", r#"{"a":1}"#),
        output("call_1", "ok"),
        call("call_1", r#"{ "a": 1 }"#),
        user("bye"),
    ];
    assert_eq!(repairs(&given), [(2, "duplicate_call", Action::Dropped)]);
    assert_eq!(texts(&left_of(&given)), [given[0].text(), given[1].text(), given[3].text()]);
}

#[test]
fn answered_one_of_two_equal_calls_stays() {
    let given = [
        call("call_1", "{}"),
        user("Are you there?"),
        reasoning("rs_1"),
        call("call_1", "{}"),
        output("call_1", "ok"),
    ];
    assert_eq!(repairs(&given), [(0, "duplicate_call", Action::Dropped)]);
    assert_eq!(texts(&left_of(&given)), texts(&given[1..]));
}

#[test]
fn replayed_exchange_is_dropped_with_its_output() {
    let exchange = [call_under("fc_1", "call_1", "{}"), output("call_1", "ok")];
    let given = [exchange.clone(), exchange].concat();
    assert_eq!(
        refusal(&given),
        input_refusal(
            "Duplicate item found with id fc_1. Remove duplicate items from your input and try \
             again."
        )
    );
    assert_eq!(
        repairs(&given),
        [(2, "duplicate_item", Action::Dropped), (3, "duplicate_output", Action::Dropped)]
    );
    assert_eq!(texts(&left_of(&given)), texts(&given[..2]));
}

#[test]
fn empty_call_id_is_replaced() {
    let given = [user("hi"), call("", "{}"), output("", "ok")];
    assert_eq!(
        refusal(&given),
        (
            400,
            Some("empty_string"),
            "input[1].call_id".to_owned(),
            "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, \
             but got an empty string instead."
                .to_owned()
        )
    );
    assert_eq!(repairs(&given), [(1, "empty_call_id", Action::Renamed)]);
    let renamed = [user("hi"), call("call_1", "{}"), output("call_1", "ok")];
    assert_eq!(texts(&left_of(&given)), texts(&renamed));
}

#[test]
fn call_id_of_an_orphan_output_is_not_reused() {
    let given = [reference("fc_1"), output("call_1", "one"), call("", "{}"), output("", "two")];
    let policy = Policy { outputs_without_call: OnOutputWithoutCall::Keep, ..Policy::default() };
    let repaired = repair_with(&given, &policy).expect("the policy rejects nothing");
    assert_eq!(
        texts(&repaired.items)[1..],
        [given[1].text(), call("call_2", "{}").text(), output("call_2", "two").text()]
    );
    assert_eq!(repaired.sources, [Some(0), Some(1), None, None]);
}

#[test]
fn call_without_call_id_gets_one_and_an_output() {
    let given = [item(r#"{"type":"function_call","name":"f","arguments":"{}"}"#)];
    assert_eq!(
        refusal(&given),
        (
            400,
            Some("missing_required_parameter"),
            "input[0].call_id".to_owned(),
            "Missing required parameter: 'input[0].call_id'.".to_owned()
        )
    );
    let left = left_of(&given);
    assert_eq!(
        left[0].text(),
        r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"call_1"}"#
    );
    assert_eq!(left[1].head().call_id, Some("call_1".into()));
}

#[test]
fn overlong_call_id_is_shortened_in_call_and_output() {
    let long = "call_".to_owned() + &"x".repeat(411);
    let given = [call(&long, "{}"), output(&long, "ok")];
    assert_eq!(
        refusal(&given),
        (
            400,
            Some("string_above_max_length"),
            "input[0].call_id".to_owned(),
            "Invalid 'input[0].call_id': string too long. Expected a string with maximum length \
             64, but got a string with length 416 instead."
                .to_owned()
        )
    );
    let name = format!("{}_1", &long[..54]);
    let renamed = [call(&name, "{}"), output(&name, "ok")];
    assert_eq!(texts(&left_of(&given)), texts(&renamed));
}

#[test]
fn output_with_the_name_of_its_tool_needs_no_call_id() {
    assert_accepted(&[
        user("hi"),
        item(r#"{"type":"function_call_output","name":"clock","output":"noon"}"#),
    ]);
}
