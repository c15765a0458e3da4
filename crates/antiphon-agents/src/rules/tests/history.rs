//! Tests of orphans and duplicates in a history that the client owns.

use crate::rules::history::{self, latest};
use antiphon::item::Item;
use antiphon::item::given::{assistant, call, call_under, item, output, reasoning, user};

fn pruned(history: &[Item]) -> Vec<Item> {
    history::prune(history, &[], &mut Vec::new())
}

fn dedupe(history: &[Item]) -> Vec<Item> {
    history::dedupe(history.to_vec(), &mut Vec::new())
}

fn prepare(history: &[Item], input: &[Item], limit: Option<usize>) -> Vec<Item> {
    history::prepare(history, input, limit).0
}

/// The name of the fault and of the action of each reported item.
fn reported(history: &[Item], limit: Option<usize>) -> Vec<(&'static str, &'static str)> {
    let (_, report) = history::prepare(history, &[user("now")], limit);
    report.iter().map(|repair| (repair.fault, repair.action)).collect()
}

#[test]
fn items_that_are_left_out_are_reported() {
    let orphan = [user("hi"), reasoning("rs_1"), call("call_1", "{}"), user("well?")];
    let dropped = [("lone_reasoning", "dropped"), ("unanswered_call", "dropped")];
    assert_eq!(reported(&orphan, None), dropped);
    let twice = [
        call_under("fc_1", "call_1", "{}"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "old"),
        output("call_1", "new"),
        reasoning("rs_1"),
        reasoning("rs_1"),
        assistant("msg_1", "Hello."),
    ];
    let merged = [
        ("duplicate_call", "dropped"),
        ("duplicate_item", "dropped"),
        ("duplicate_output", "replaced"),
    ];
    assert_eq!(reported(&twice, None), merged);
    // A limit cuts what the application wants it to cut.
    let pair = [call("call_1", "{}"), output("call_1", "ok"), assistant("msg_1", "Hello.")];
    assert_eq!(reported(&pair, Some(2)), []);
}

#[test]
fn behaviour_14_without_a_server_the_whole_history_is_replayed() {
    let history = [
        user("hi"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "ok"),
        assistant("msg_1", "Hello."),
    ];
    let request = prepare(&history, &[user("bye")], None);
    assert_eq!(request, [&history[..], &[user("bye")]].concat());
}

#[test]
fn behaviour_19_a_call_without_an_output_goes_with_its_reasoning() {
    let history = [user("hi"), reasoning("rs_1"), call("call_1", "{}"), user("well?")];
    assert_eq!(pruned(&history), [user("hi"), user("well?")]);
}

#[test]
fn every_kind_of_call_is_answered_by_its_own_kind() {
    for (call, output) in [
        ("function_call", "function_call_output"),
        ("custom_tool_call", "custom_tool_call_output"),
        ("shell_call", "shell_call_output"),
        ("apply_patch_call", "apply_patch_call_output"),
        ("computer_call", "computer_call_output"),
        ("local_shell_call", "local_shell_call_output"),
        ("tool_search_call", "tool_search_output"),
        ("program", "program_output"),
    ] {
        let of = |kind: &str| item(format!(r#"{{"type":"{kind}","call_id":"call_1"}}"#));
        assert_eq!(pruned(&[of(call), of(output)]), [of(call), of(output)]);
        assert_eq!(pruned(&[of(call), of("mcp_approval_response")]).len(), 1, "{call}");
    }
}

#[test]
fn behaviour_20_lone_reasoning_stays_if_nothing_was_dropped() {
    let history = [user("hi"), reasoning("rs_1"), user("well?"), reasoning("rs_2")];
    assert_eq!(pruned(&history), history);
}

#[test]
fn behaviour_21_reasoning_before_an_item_that_stays_does_too() {
    let history = [
        reasoning("rs_1"),
        reasoning("rs_2"),
        assistant("msg_1", "One moment."),
        reasoning("rs_3"),
        call("call_1", "{}"),
    ];
    assert_eq!(pruned(&history), history[..3]);
}

#[test]
fn reasoning_stays_with_the_answered_sibling() {
    let history =
        [reasoning("rs_1"), call("call_1", "{}"), call("call_2", "{}"), output("call_2", "ok")];
    let left = [history[0].clone(), history[2].clone(), history[3].clone()];
    assert_eq!(pruned(&history), left);
}

#[test]
fn reasoning_of_a_dropped_call_does_not_pass_to_the_next_reasoning() {
    let history =
        [reasoning("rs_1"), call("call_1", "{}"), reasoning("rs_2"), assistant("msg_1", "Hello.")];
    assert_eq!(pruned(&history), history[2..]);
}

#[test]
fn behaviour_22_limit_that_cuts_a_pair_drops_the_output_from_the_request() {
    let history = [user("hi"), call("call_1", "{}"), output("call_1", "ok"), user("bye")];
    assert_eq!(prepare(&history, &[], Some(2)), [user("bye")]);
    assert_eq!(prepare(&history, &[], Some(3)), history[1..], "a higher limit returns the pair");
}

#[test]
fn limit_keeps_outputs_that_it_did_not_cut() {
    let history =
        [user("hi"), output("call_0", "alone"), call("call_1", "{}"), output("call_1", "ok")];
    assert_eq!(latest(&history, Some(3)), history[1..]);
    assert_eq!(latest(&history, Some(9)), history);
}

#[test]
fn behaviour_23_without_a_limit_an_orphan_output_stays() {
    let history = [user("hi"), output("call_1", "ok")];
    assert_eq!(prepare(&history, &[], None), history);
}

#[test]
fn behaviour_24_latest_of_two_outputs_stays_after_its_call() {
    let history = [
        output("call_1", "old"),
        call("call_1", "{}"),
        output("call_1", "older"),
        output("call_1", "new"),
    ];
    assert_eq!(dedupe(&history[1..]), [call("call_1", "{}"), output("call_1", "new")]);
    let split =
        [call("call_1", "{}"), output("call_1", "old"), user("hi"), output("call_1", "new")];
    assert_eq!(dedupe(&split), [call("call_1", "{}"), user("hi"), output("call_1", "new")]);
}

#[test]
fn behaviour_25_latest_of_two_reasonings_precedes_its_follower() {
    let newer = item(r#"{"id":"rs_1","type":"reasoning","summary":[{"text":"new"}]}"#);
    let history = [reasoning("rs_1"), call("call_1", "{}"), output("call_1", "ok"), newer.clone()];
    assert_eq!(dedupe(&history), [newer, call("call_1", "{}"), output("call_1", "ok")]);
}

#[test]
fn behaviour_26_an_approval_request_stays_before_its_response() {
    let request = item(r#"{"type":"mcp_approval_request","id":"mcpr_1","name":"f"}"#);
    let response = |yes: bool| {
        item(format!(
            r#"{{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":{yes}}}"#
        ))
    };
    let history = [request.clone(), response(false), request.clone(), response(true)];
    assert_eq!(dedupe(&history), [request, response(true)]);
}

#[test]
fn behaviour_27_equal_messages_are_never_merged() {
    let history =
        [user("hi"), assistant("msg_1", "Hello."), user("hi"), assistant("msg_1", "Hello.")];
    assert_eq!(dedupe(&history), history);
}

#[test]
fn two_calls_under_one_call_id_keep_their_own_outputs() {
    let history = [
        call("call_0", r#"{"city":"Bonn"}"#),
        output("call_0", "10 degrees"),
        call("call_0", r#"{"city":"Rome"}"#),
        output("call_0", "20 degrees"),
    ];
    assert_eq!(dedupe(&history), history);
}

#[test]
fn placeholder_id_joins_nothing() {
    let history = [reasoning("__fake_id__"), reasoning("__fake_id__")];
    assert_eq!(dedupe(&history), history);
}

#[test]
fn behaviour_28_a_pending_shell_call_of_the_callers_own_is_preserved() {
    let shell = item(r#"{"type":"shell_call","call_id":"call_1","action":{"commands":["ls"]}}"#);
    let request = prepare(&[user("hi")], std::slice::from_ref(&shell), None);
    assert_eq!(request, [user("hi"), shell]);
}

#[test]
fn output_in_the_input_answers_a_call_in_the_history() {
    let history = [user("hi"), reasoning("rs_1"), call("call_1", "{}")];
    let request = prepare(&history, &[output("call_1", "approved")], None);
    assert_eq!(request, [&history[..], &[output("call_1", "approved")]].concat());
}

#[test]
fn behaviour_29_a_named_call_never_pairs_with_an_anonymous_output() {
    let search = item(r#"{"type":"tool_search_call","call_id":"call_1"}"#);
    let anonymous = item(r#"{"type":"tool_search_output","call_id":null,"tools":[]}"#);
    assert_eq!(pruned(&[search, anonymous.clone()]), [anonymous]);
    let of_server = item(r#"{"type":"tool_search_call","call_id":null,"execution":"server"}"#);
    assert_eq!(pruned(std::slice::from_ref(&of_server)), [of_server]);
}
