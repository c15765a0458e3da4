//! The Agents SDKs: deltas in normal use. Conversation sessions also replay stored items, with the
//! ids of reasoning but without those of calls and assistant messages.

use super::{FRESH, by_call, by_id, by_place, owner};
use crate::item::given::{
    assistant, bare_assistant, call, call_under, item, output, reasoning, user,
};

#[test]
fn session_replay_is_matched_item_by_item() {
    let held = owner([
        user("What is the weather?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#),
        output("call_1", "20 degrees"),
        reasoning("rs_2"),
        assistant("msg_1", "It is warm."),
    ]);
    let verdicts = held.reconcile([
        user("What is the weather?"),
        reasoning("rs_1"),
        call("call_1", r#"{"city": "Bonn"}"#),
        output("call_1", "20 degrees"),
        reasoning("rs_2"),
        bare_assistant("It is warm."),
        user("Thanks."),
    ]);
    assert_eq!(
        verdicts,
        [by_place(0), by_id(1), by_call(2), by_call(3), by_id(4), by_place(5), FRESH]
    );
}

#[test]
fn output_with_added_status_is_resent() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", "{}"), output("call_1", "ok")]);
    let with_status = item(
        r#"{"type":"function_call_output","call_id":"call_1","output":"ok","status":"completed"}"#,
    );
    assert_eq!(held.reconcile([with_status, user("bye")]), [by_call(2), FRESH]);
}

#[test]
fn text_next_to_a_call_precedes_the_output() {
    let held = owner([
        user("What is the weather?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", "{}"),
        assistant("msg_1", "Let me see."),
    ]);
    let verdicts = held.reconcile([
        user("What is the weather?"),
        reasoning("rs_1"),
        call("call_1", "{}"),
        bare_assistant("Let me see."),
        output("call_1", "20 degrees"),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_call(2), by_place(3), FRESH]);
}

#[test]
fn delta_after_a_failed_tool_is_new() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", "{}")]);
    assert_eq!(held.reconcile([user("Try again.")]), [FRESH]);
}
