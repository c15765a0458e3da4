//! The same call: kind and `call_id`, and where servers repeat call ids, the order.

use super::{FRESH, by_call, by_id, by_place, differing, owner};
use crate::item::Item;
use crate::item::given::{assistant, call, call_under, item, output, said, user};
use crate::reconcile::Verdict;

const BONN: &str = r#"{"city":"Bonn"}"#;
const ROME: &str = r#"{"city":"Rome"}"#;

/// Two turns of a server that calls every call `call_0`.
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
fn an_output_that_differs_stays_as_it_is_held() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", "{}"), output("call_1", "ok")]);
    let verdicts = held.reconcile([output("call_1", "not ok"), user("bye")]);
    assert_eq!(verdicts, [differing(by_call(2)), FRESH]);
}

#[test]
fn another_kind_under_the_same_call_id_is_another_call() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", "{}"), output("call_1", "ok")]);
    let verdicts = held.reconcile([
        item(r#"{"type":"custom_tool_call","call_id":"call_1","name":"shout","input":"hi"}"#),
        item(r#"{"type":"custom_tool_call_output","call_id":"call_1","output":"HI"}"#),
    ]);
    assert_eq!(verdicts, [FRESH, FRESH]);
}

#[test]
fn restarted_call_ids_are_known_in_their_order() {
    let replay = [
        user("Bonn?"),
        call("call_0", BONN),
        output("call_0", "10 degrees"),
        said("Cold."),
        user("Rome?"),
        call("call_0", ROME),
        output("call_0", "20 degrees"),
        said("Warm."),
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
fn restarted_call_ids_are_known_in_their_order_where_calls_are_stripped() {
    let replay = [
        user("Bonn?"),
        output("call_0", "10 degrees"),
        said("Cold."),
        user("Rome?"),
        output("call_0", "20 degrees"),
        said("Warm."),
        user("Thanks."),
    ];
    let expected =
        [by_place(0), by_call(2), by_place(3), by_place(4), by_call(6), by_place(7), FRESH];
    assert_eq!(owner(restarted()).reconcile(replay), expected);
}

#[test]
fn of_the_outputs_of_one_call_id_the_last_answers_the_call_that_waits() {
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
fn one_output_more_than_calls_wait_is_new_where_it_says_something_new() {
    let held = owner(restarted().into_iter().take(6));
    let outputs = ["10 degrees", "20 degrees", "30 degrees"].map(|text| output("call_0", text));
    assert_eq!(held.reconcile(outputs), [by_call(2), FRESH, FRESH]);
}

#[test]
fn items_that_are_known_by_id_count_in_the_order_of_their_call_id() {
    let under_id = |n: u8, text: &str| {
        item(format!(
            r#"{{"type":"function_call_output","id":"fc_out_{n}","call_id":"call_0","output":"{text}"}}"#
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
fn one_constant_id_for_parallel_calls_is_known_in_their_order() {
    let held = || owner([user("Both?"), call("call", BONN), call("call", ROME)]);
    let outputs = [output("call", "10 degrees"), output("call", "20 degrees")];
    assert_eq!(held().reconcile(outputs.clone()), [FRESH, FRESH]);
    let calls = [user("Both?"), call("call", BONN), call("call", ROME)];
    let verdicts = held().reconcile(calls.into_iter().chain(outputs));
    assert_eq!(verdicts, [by_place(0), by_call(1), by_call(2), FRESH, FRESH]);
}

/// A client that puts a search of its own before every question, always under one `call_id`.
#[test]
fn another_call_and_output_under_a_used_call_id_are_new() {
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
fn a_call_whose_arguments_a_client_could_not_read_is_known_by_its_output() {
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
fn an_answered_call_that_comes_back_changed_and_alone_stays_as_it_is_held() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", BONN), output("call_1", "ok")]);
    let verdicts = held.reconcile([user("hi"), call("call_1", "{}"), user("bye")]);
    assert_eq!(verdicts, [by_place(0), differing(by_call(1)), FRESH]);
}

#[test]
fn a_pending_call_whose_arguments_changed_is_answered_all_the_same() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", r#"{"city":"Bo"#)]);
    let verdicts = held.reconcile([user("hi"), call("call_1", "{}"), output("call_1", "no")]);
    assert_eq!(verdicts, [by_place(0), differing(by_call(1)), FRESH]);
}

#[test]
fn an_output_that_stands_twice_answers_once() {
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
fn an_exchange_that_stands_twice_under_one_item_id_counts_once_unless_the_outputs_differ() {
    let call = || call_under("fc_0", "call_0", "{}");
    let copy = [call(), output("call_0", "1"), call(), output("call_0", "1")];
    let copies = [FRESH, FRESH, Verdict::Duplicate(0), Verdict::Duplicate(1)];
    assert_eq!(owner([]).reconcile(copy), copies);
    let twice = [call(), output("call_0", "1"), call(), output("call_0", "2")];
    assert_eq!(owner([]).reconcile(twice), [FRESH, FRESH, Verdict::FreshUnderUsedId, FRESH]);
}

#[test]
fn a_copy_never_points_ahead() {
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
fn an_approval_is_answered_and_known() {
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
fn a_local_shells_output_is_known_by_the_id_of_its_call() {
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
fn outputs_without_a_call_id_are_carried() {
    let anonymous = || item(r#"{"type":"function_call_output","name":"clock","output":"noon"}"#);
    let held = owner([user("hi"), anonymous()]);
    assert_eq!(held.reconcile([anonymous()]), [FRESH]);
}
