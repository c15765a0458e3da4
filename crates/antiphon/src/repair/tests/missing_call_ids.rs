//! Calls and outputs without a `call_id`.

use super::{Action, assert_accepted, left_of, refusal, repairs, texts};
use crate::item::given::{call, item, output, user};
use crate::item::{CallId, Item};
use crate::repair::{Held, OnOutputWithoutCall, Policy, repair_held, repair_with};

fn nameless_call() -> Item {
    item(r#"{"type":"function_call","name":"f","arguments":"{}"}"#)
}

fn nameless_output(text: &str) -> Item {
    item(format!(r#"{{"type":"function_call_output","output":"{text}"}}"#))
}

/// The kinds and call ids of the items that have one.
fn pairs(items: &[Item]) -> Vec<(&str, &str)> {
    let pair = |item: &'_ Item| item.head().call_id.is_some();
    let of_pair = items.iter().filter(|item| pair(item));
    of_pair
        .map(|item| {
            let call_id: &CallId = item.head().call_id.as_ref().unwrap();
            (item.head().kind.as_str(), call_id.as_str())
        })
        .collect()
}

#[test]
fn call_takes_the_call_id_of_the_only_unmatched_output() {
    let given = [user("hi"), nameless_call(), output("call_1", "noon"), user("Thanks.")];
    assert_eq!(repairs(&given), [(1, "missing_call_id", Action::CallIdAdded)]);
    let left = left_of(&given);
    assert_eq!(pairs(&left), [("function_call", "call_1"), ("function_call_output", "call_1")]);
    assert_eq!(left[2].text(), given[2].text());
    assert_accepted(&left);
}

#[test]
fn empty_call_id_gives_way_to_that_of_the_output() {
    let given = [call("", "{}"), output("call_1", "noon")];
    assert_eq!(repairs(&given), [(0, "empty_call_id", Action::CallIdAdded)]);
    assert_eq!(texts(&left_of(&given)), [call("call_1", "{}").text(), given[1].text()]);
}

#[test]
fn each_turn_pairs_its_own_call_and_output() {
    let given = [
        nameless_call(),
        output("call_1", "noon"),
        user("And now?"),
        nameless_call(),
        output("call_2", "midnight"),
    ];
    let left = left_of(&given);
    let call_ids: Vec<&str> = pairs(&left).iter().map(|(_, call_id)| *call_id).collect();
    assert_eq!(call_ids, ["call_1", "call_1", "call_2", "call_2"]);
    assert_eq!(repairs(&given).len(), 2);
}

#[test]
fn ambiguous_output_is_not_paired() {
    for given in [
        vec![nameless_call(), nameless_call(), output("call_1", "noon")],
        vec![nameless_call(), output("call_1", "noon"), output("call_2", "midnight")],
        vec![output("call_1", "noon"), nameless_call()],
    ] {
        let repairs = repairs(&given);
        assert!(repairs.iter().any(|(_, fault, _)| *fault == "output_without_call"));
        assert_accepted(&left_of(&given));
    }
}

#[test]
fn call_of_another_kind_does_not_take_the_call_id() {
    let custom = item(r#"{"type":"custom_tool_call","name":"f","input":""}"#);
    let given = [custom, output("call_1", "noon")];
    assert!(repairs(&given).contains(&(1, "output_without_call", Action::Dropped)));
}

#[test]
fn output_is_not_paired_if_the_server_may_hold_its_call() {
    let given = [nameless_call(), output("call_9", "noon")];
    let policy = Policy { outputs_without_call: OnOutputWithoutCall::Keep, ..Policy::default() };
    let left = repair_with(&given, &policy).expect("the policy rejects nothing").items;
    let call_ids: Vec<&str> = pairs(&left).iter().map(|(_, call_id)| *call_id).collect();
    assert_eq!(call_ids, ["call_1", "call_1", "call_9"]);
}

#[test]
fn output_without_call_id_takes_that_of_the_only_unanswered_call() {
    let given = [call("call_1", "{}"), user("hi"), nameless_output("noon")];
    assert_eq!(
        refusal(&given),
        (
            400,
            Some("missing_required_parameter"),
            "input[2].call_id".to_owned(),
            "Missing required parameter: 'input[2].call_id'.".to_owned()
        )
    );
    assert_eq!(repairs(&given), [(2, "missing_call_id", Action::CallIdAdded)]);
    let left = left_of(&given);
    assert_eq!(pairs(&left), [("function_call", "call_1"), ("function_call_output", "call_1")]);
    assert_accepted(&left);
}

#[test]
fn call_and_output_without_call_id_are_a_pair() {
    let given = [nameless_call(), nameless_output("noon")];
    assert_eq!(repairs(&given), [(0, "missing_call_id", Action::CallIdAdded)]);
    assert_eq!(
        pairs(&left_of(&given)),
        [("function_call", "call_1"), ("function_call_output", "call_1")]
    );
}

#[test]
fn unmatched_output_without_call_id_is_dropped() {
    let two = [call("call_1", "{}"), nameless_output("noon"), nameless_output("midnight")];
    for given in [&[user("hi"), nameless_output("noon")][..], &two] {
        let dropped = (given.len() - 1, "missing_call_id", Action::Dropped);
        assert!(repairs(given).contains(&dropped));
        assert_accepted(&left_of(given));
    }
    let unknown = repair_held(Held::Unknown, &[nameless_output("noon")], &Policy::default());
    assert_eq!(unknown.expect("the policy rejects nothing").items, []);
}

#[test]
fn approval_and_request_without_its_id_are_a_pair() {
    let request =
        item(r#"{"type":"mcp_approval_request","server_label":"s","name":"f","arguments":"{}"}"#);
    let response =
        item(r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}"#);
    let given = [request.clone(), response];
    assert_eq!(repairs(&given), [(0, "missing_call_id", Action::CallIdAdded)]);
    assert_eq!(left_of(&given)[0].head().id, Some("mcpr_1".into()));
    assert_eq!(refusal(&given).3, "Missing required parameter: 'input[0].id'.");

    let unnamed = item(r#"{"type":"mcp_approval_response","approve":true}"#);
    let given = [request.with(|object| object.set_string("id", "mcpr_2")), unnamed];
    assert_eq!(repairs(&given), [(1, "missing_call_id", Action::CallIdAdded)]);
    let message = "Missing required parameter: 'input[1].approval_request_id'.";
    assert_eq!(refusal(&given).3, message);
}

#[test]
fn unnamed_output_of_a_local_shell_lacks_an_id() {
    let given = [user("hi"), item(r#"{"type":"local_shell_call_output","output":"a"}"#)];
    assert_eq!(refusal(&given).3, "Missing required parameter: 'input[1].id'.");
    assert_eq!(repairs(&given), [(1, "missing_call_id", Action::Dropped)]);
}
