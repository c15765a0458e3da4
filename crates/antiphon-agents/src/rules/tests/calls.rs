//! Tests that a call has its effect once.

use crate::rules::calls::CallError;
use crate::rules::{CallAction, CallLedger};
use antiphon::item::given::{call, call_under, item, output, user};
use antiphon::item::{CallKey, Kind};

/// The key of a function call.
fn function(call_id: &str) -> CallKey {
    CallKey { kind: Kind::FunctionCall, call_id: call_id.into() }
}

#[test]
fn behaviour_50_other_arguments_under_one_call_id_fail_before_a_second_effect() {
    let mut ledger = CallLedger::default();
    let first = call("call_1", r#"{"city":"Bonn"}"#);
    assert_eq!(ledger.begin(&first), Ok(CallAction::Run));
    let changed = call("call_1", r#"{"city":"Rome"}"#);
    let refused = Err(CallError::ChangedPayload(function("call_1")));
    assert_eq!(ledger.begin(&changed), refused);
    ledger.commit(&first, output("call_1", "20 degrees")).unwrap();
    assert_eq!(ledger.begin(&changed), refused);
}

#[test]
fn behaviour_51_an_exact_replay_gets_the_committed_output() {
    let mut ledger = CallLedger::default();
    let asked = call_under("fc_1", "call_1", r#"{"city":"Bonn","days":2}"#);
    ledger.begin(&asked).unwrap();
    ledger.commit(&asked, output("call_1", "20 degrees")).unwrap();
    let replay = call_under("fc_9", "call_1", r#"{ "days": 2, "city": "Bonn" }"#);
    assert_eq!(ledger.begin(&replay), Ok(CallAction::Replayed(output("call_1", "20 degrees"))));
}

#[test]
fn resumed_run_knows_the_calls_of_its_history() {
    let history = [user("hi"), call("call_1", "{}"), output("call_1", "ok"), call("call_2", "{}")];
    let mut ledger = CallLedger::from_history(&history);
    assert_eq!(ledger.begin(&history[1]), Ok(CallAction::Replayed(history[2].clone())));
    assert_eq!(ledger.begin(&history[3]), Ok(CallAction::Run));
}

#[test]
fn call_with_two_item_ids_runs_once() {
    let mut ledger = CallLedger::default();
    assert_eq!(ledger.begin(&call_under("fc_added", "call_1", "{}")), Ok(CallAction::Run));
    assert_eq!(ledger.begin(&call_under("fc_done", "call_1", "{}")), Ok(CallAction::Running));
}

#[test]
fn empty_call_id_fails_early() {
    let mut ledger = CallLedger::default();
    let unnamed = item(r#"{"type":"function_call","name":"f","arguments":"{}"}"#);
    for call in [call("", "{}"), unnamed] {
        assert_eq!(ledger.begin(&call), Err(CallError::EmptyCallId(Kind::FunctionCall)));
    }
    let search = item(r#"{"type":"tool_search_call","call_id":null}"#);
    assert_eq!(ledger.begin(&search), Err(CallError::EmptyCallId(Kind::ToolSearchCall)));
    assert_eq!(ledger.begin(&user("hi")), Err(CallError::NotACall(Kind::Message)));
}

#[test]
fn behaviour_29_an_anonymous_output_is_not_taken_for_a_named_call() {
    let mut ledger = CallLedger::default();
    let asked = call("call_1", "{}");
    ledger.begin(&asked).unwrap();
    let anonymous = item(r#"{"type":"function_call_output","output":"ok"}"#);
    let foreign = Err(CallError::ForeignOutput(function("call_1")));
    assert_eq!(ledger.commit(&asked, anonymous), foreign);
    assert_eq!(ledger.commit(&asked, output("call_2", "ok")), foreign);
    assert_eq!(ledger.commit(&asked, output("call_1", "ok")), Ok(()));
}
