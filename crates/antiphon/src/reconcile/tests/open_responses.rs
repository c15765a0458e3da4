//! The AI SDK's open-responses provider: full items. Version 6 sends no ids and no reasoning,
//! version 7 sends both.

use super::{FRESH, by_call, by_id, by_place, differing, owner};
use crate::item::Item;
use crate::item::given::{assistant, call, call_under, item, output, reasoning, user};

fn history() -> [Item; 7] {
    [
        user("hi"),
        assistant("msg_1", "Hello."),
        user("What is the weather?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#),
        output("call_1", "20 degrees"),
        assistant("msg_2", "It is warm."),
    ]
}

fn parts(role: &str, kind: &str, text: &str) -> Item {
    item(format!(
        r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}"#
    ))
}

#[test]
fn version_6_replay_without_ids_or_reasoning_is_matched() {
    let verdicts = owner(history()).reconcile([
        parts("user", "input_text", "hi"),
        parts("assistant", "output_text", "Hello."),
        parts("user", "input_text", "What is the weather?"),
        call("call_1", r#"{"city":"Bonn"}"#),
        output("call_1", "20 degrees"),
        parts("assistant", "output_text", "It is warm."),
        parts("user", "input_text", "Thanks."),
    ]);
    assert_eq!(
        verdicts,
        [by_place(0), by_place(1), by_place(2), by_call(4), by_call(5), by_place(6), FRESH]
    );
}

#[test]
fn version_7_replay_with_all_ids_is_matched() {
    let incoming = history().into_iter().chain([user("Thanks.")]);
    let verdicts = owner(history()).reconcile(incoming);
    assert_eq!(
        verdicts,
        [by_place(0), by_id(1), by_place(2), by_id(3), by_id(4), by_call(5), by_id(6), FRESH]
    );
}

/// The client returns two messages of one response as one, which counts as an edit of the last.
#[test]
fn joined_assistant_messages_are_resent() {
    let held = owner([
        user("hi"),
        assistant("msg_1", "Let me think."),
        assistant("msg_2", "Hello."),
        user("yes"),
        assistant("msg_3", "Fine."),
    ]);
    let joined = item(
        r#"{"role":"assistant","content":[{"type":"output_text","text":"Let me think."},
            {"type":"output_text","text":"Hello."}]}"#,
    );
    let verdicts = held.reconcile([
        user("hi"),
        joined,
        user("yes"),
        parts("assistant", "output_text", "Fine."),
        user("bye"),
    ]);
    let joined = differing(by_place(2));
    assert_eq!(verdicts, [by_place(0), joined, by_place(3), by_place(4), FRESH]);
}

#[test]
fn fabricated_nulls_and_status_are_ignored() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", "{}"), output("call_1", "ok")]);
    let verdicts = held.reconcile([
        item(r#"{"type":"message","id":null,"status":null,"role":"user","content":"hi"}"#),
        item(
            r#"{"type":"function_call","id":null,"call_id":"call_1","name":"get_weather",
                "arguments":"{}","namespace":null,"status":"in_progress"}"#,
        ),
        item(r#"{"type":"function_call_output","call_id":"call_1","output":"ok","caller":null}"#),
        user("bye"),
    ]);
    assert_eq!(verdicts, [by_place(0), by_call(1), by_call(2), FRESH]);
}
