//! Rule 2: the same kind and `call_id`. If servers reuse call ids, order decides.

use super::{FRESH, by_call, by_id, by_place, differing, owner};
use crate::item::Item;
use crate::item::given::{assistant, bare_assistant, call, call_under, item, output, user};
use crate::reconcile::Verdict;

const BONN: &str = r#"{"city":"Bonn"}"#;
const ROME: &str = r#"{"city":"Rome"}"#;

/// Two turns of a server that uses `call_0` as the `call_id` of every call.
fn restarted() -> [Item; 8] {
    [
        user("Bonn?"),
        call("call_0", BONN),
        output("call_0", "10 degrees"),
        assistant("msg_1", "Cold."),
        user("Rome?"),
        call("call_0", ROME),
        output("call_0", "20 degrees"),
        assistant("msg_2", "Warm."),
    ]
}

#[test]
fn different_output_keeps_the_stored_one() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", "{}"), output("call_1", "ok")]);
    let verdicts = held.reconcile([output("call_1", "not ok"), user("bye")]);
    assert_eq!(verdicts, [differing(by_call(2)), FRESH]);
}

#[test]
fn another_kind_under_the_same_call_id_is_new() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", "{}"), output("call_1", "ok")]);
    let verdicts = held.reconcile([
        item(r#"{"type":"custom_tool_call","call_id":"call_1","name":"shout","input":"hi"}"#),
        item(r#"{"type":"custom_tool_call_output","call_id":"call_1","output":"HI"}"#),
    ]);
    assert_eq!(verdicts, [FRESH, FRESH]);
}

#[test]
fn restarted_call_ids_match_in_order() {
    let replay = [
        user("Bonn?"),
        call("call_0", BONN),
        output("call_0", "10 degrees"),
        bare_assistant("Cold."),
        user("Rome?"),
        call("call_0", ROME),
        output("call_0", "20 degrees"),
        bare_assistant("Warm."),
        user("Thanks."),
    ];
    let expected = [
        by_place(0),
        by_call(1),
        by_call(2),
        by_place(3),
        by_place(4),
        by_call(5),
        by_call(6),
        by_place(7),
        FRESH,
    ];
    assert_eq!(owner(restarted()).reconcile(replay), expected);
}

#[test]
fn restarted_call_ids_match_in_order_without_calls() {
    let replay = [
        user("Bonn?"),
        output("call_0", "10 degrees"),
        bare_assistant("Cold."),
        user("Rome?"),
        output("call_0", "20 degrees"),
        bare_assistant("Warm."),
        user("Thanks."),
    ];
    let expected =
        [by_place(0), by_call(2), by_place(3), by_place(4), by_call(6), by_place(7), FRESH];
    assert_eq!(owner(restarted()).reconcile(replay), expected);
}

#[test]
fn last_output_of_a_call_id_answers_the_pending_call() {
    let held = owner(restarted().into_iter().take(6));
    let replay = [
        user("Bonn?"),
        output("call_0", "10 degrees"),
        user("Rome?"),
        output("call_0", "20 degrees"),
    ];
    assert_eq!(held.reconcile(replay), [by_place(0), by_call(2), by_place(4), FRESH]);
    let held = owner(restarted().into_iter().take(6));
    assert_eq!(held.reconcile([output("call_0", "10 degrees")]), [FRESH]);
}

#[test]
fn surplus_output_with_new_content_is_new() {
    let held = owner(restarted().into_iter().take(6));
    let outputs = ["10 degrees", "20 degrees", "30 degrees"].map(|text| output("call_0", text));
    assert_eq!(held.reconcile(outputs), [by_call(2), FRESH, FRESH]);
}

#[test]
fn items_matched_by_id_count_in_call_order() {
    let under_id = |n: u8, text: &str| {
        let id = format!("fc_out_{n}");
        item(format!(
            r#"{{"type":"function_call_output","id":"{id}","call_id":"call_0","output":"{text}"}}"#
        ))
    };
    let held = || {
        [
            call_under("fc_1", "call_0", BONN),
            under_id(1, "10 degrees"),
            user("And Rome?"),
            call_under("fc_2", "call_0", ROME),
        ]
    };
    let outputs = [under_id(1, "10 degrees"), output("call_0", "20 degrees")];
    assert_eq!(owner(held()).reconcile(outputs), [by_id(1), FRESH]);
    let both = owner(held().into_iter().chain([output("call_0", "20 degrees")]));
    let verdicts = both.reconcile([
        call_under("fc_1", "call_0", BONN),
        output("call_0", "10 degrees"),
        call("call_0", ROME),
        output("call_0", "20 degrees"),
    ]);
    assert_eq!(verdicts, [by_id(0), by_call(1), by_call(3), by_call(4)]);
}

#[test]
fn constant_id_of_parallel_calls_matches_in_order() {
    let held = || owner([user("Both?"), call("call", BONN), call("call", ROME)]);
    let outputs = [output("call", "10 degrees"), output("call", "20 degrees")];
    assert_eq!(held().reconcile(outputs.clone()), [FRESH, FRESH]);
    let calls = [user("Both?"), call("call", BONN), call("call", ROME)];
    let verdicts = held().reconcile(calls.into_iter().chain(outputs));
    assert_eq!(verdicts, [by_place(0), by_call(1), by_call(2), FRESH, FRESH]);
}

/// A client may put a search of its own before every question, always under one `call_id`.
#[test]
fn different_exchange_under_a_used_call_id_is_new() {
    let held = owner([
        call("call_context", r#"{"query":"Bonn"}"#),
        output("call_context", "A city on the Rhine."),
        user("Where is Bonn?"),
        assistant("msg_1", "On the Rhine."),
    ]);
    let verdicts = held.reconcile_as_held([
        call("call_context", r#"{"query":"Rome"}"#),
        output("call_context", "A city on the Tiber."),
        user("Where is Rome?"),
    ]);
    assert_eq!(verdicts, [FRESH, FRESH, FRESH]);
}

#[test]
fn call_with_changed_arguments_is_matched_by_its_output() {
    let held = owner([
        user("hi"),
        call_under("fc_1", "call_1", r#"{"city":"Bo"#),
        output("call_1", "invalid arguments"),
    ]);
    let verdicts =
        held.reconcile([user("hi"), call("call_1", "{}"), output("call_1", "invalid arguments")]);
    assert_eq!(verdicts, [by_place(0), differing(by_call(1)), by_call(2)]);
}

#[test]
fn changed_answered_call_keeps_the_stored_one() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", BONN), output("call_1", "ok")]);
    let verdicts = held.reconcile([user("hi"), call("call_1", "{}"), user("bye")]);
    assert_eq!(verdicts, [by_place(0), differing(by_call(1)), FRESH]);
}

#[test]
fn output_answers_a_pending_call_with_changed_arguments() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", r#"{"city":"Bo"#)]);
    let verdicts = held.reconcile([user("hi"), call("call_1", "{}"), output("call_1", "no")]);
    assert_eq!(verdicts, [by_place(0), differing(by_call(1)), FRESH]);
}

#[test]
fn repeated_output_answers_once() {
    let held = || owner([user("hi"), call_under("fc_1", "call_1", "{}")]);
    let alone = held().reconcile([output("call_1", "ok"), output("call_1", "ok")]);
    assert_eq!(alone, [FRESH, Verdict::Duplicate(0)]);
    let beside_its_call = held().reconcile([
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "ok"),
        output("call_1", "ok"),
    ]);
    assert_eq!(beside_its_call, [by_id(1), FRESH, Verdict::Duplicate(1)]);
}

#[test]
fn repeated_exchange_counts_once_if_outputs_are_equal() {
    let call = || call_under("fc_0", "call_0", "{}");
    let copy = [call(), output("call_0", "1"), call(), output("call_0", "1")];
    let copies = [FRESH, FRESH, Verdict::Duplicate(0), Verdict::Duplicate(1)];
    assert_eq!(owner([]).reconcile(copy), copies);
    let twice = [call(), output("call_0", "1"), call(), output("call_0", "2")];
    assert_eq!(owner([]).reconcile(twice), [FRESH, FRESH, Verdict::FreshUnderUsedId, FRESH]);
}

#[test]
fn copy_never_points_ahead() {
    let call = || call_under("fc_1", "call_1", "{}");
    let verdicts = owner([]).reconcile([
        call(),
        user("hi"),
        call(),
        output("call_1", "ok"),
        output("call_1", "ok"),
    ]);
    assert_eq!(verdicts, [FRESH, FRESH, Verdict::Duplicate(0), FRESH, FRESH]);
}

#[test]
fn approval_is_answered_then_resent() {
    let request = || {
        item(
            r#"{"type":"mcp_approval_request","id":"mcpr_1","server_label":"s","name":"rm",
                "arguments":"{}"}"#,
        )
    };
    let response = || {
        item(r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}"#)
    };
    let held = owner([user("Tidy up."), request()]);
    assert_eq!(held.reconcile([response()]), [FRESH]);
    let held = owner([user("Tidy up."), request(), response()]);
    let verdicts = held.reconcile([user("Tidy up."), request(), response(), user("Thanks.")]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_call(2), FRESH]);
}

#[test]
fn local_shell_output_is_matched_by_its_calls_id() {
    let run = || {
        item(
            r#"{"type":"local_shell_call","id":"lsh_1","call_id":"call_1","status":"completed",
                "action":{"type":"exec","command":["ls"]}}"#,
        )
    };
    let ran = || item(r#"{"type":"local_shell_call_output","id":"call_1","output":"a.txt"}"#);
    assert_eq!(owner([user("ls"), run()]).reconcile([ran()]), [FRESH]);
    let held = owner([user("ls"), run(), ran()]);
    assert_eq!(held.reconcile([run(), ran(), user("Thanks.")]), [by_id(1), by_call(2), FRESH]);
}

#[test]
fn outputs_without_call_id_are_fresh() {
    let anonymous = || item(r#"{"type":"function_call_output","name":"clock","output":"noon"}"#);
    let held = owner([user("hi"), anonymous()]);
    assert_eq!(held.reconcile([anonymous()]), [FRESH]);
}
