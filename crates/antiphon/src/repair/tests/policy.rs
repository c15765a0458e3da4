//! Repairs under each policy.

use super::{Action, check, texts};
use crate::item::given::{assistant, call, item, output, reasoning, reference, user};
use crate::item::{Item, ItemId};
use crate::repair::{
    OnLoneReasoning, OnMissingId, OnOutputWithoutCall, OnUnansweredCall, OnUnresolvedReference,
    Policy, Refused, repair, repair_with,
};

fn left_under(policy: &Policy, given: &[Item]) -> Vec<String> {
    let repaired = repair_with(given, policy).expect("the policy rejects nothing");
    repaired.items.iter().map(|item| item.text().to_owned()).collect()
}

fn repairs_under(policy: &Policy, given: &[Item]) -> Vec<(usize, &'static str, Action)> {
    let repaired = repair_with(given, policy).expect("the policy rejects nothing");
    repaired
        .repairs
        .iter()
        .map(|repair| (repair.position, repair.fault.name(), repair.action))
        .collect()
}

fn refused(policy: &Policy, given: &[Item]) -> (Option<usize>, &'static str, String) {
    let refused: Refused = repair_with(given, policy).expect_err("the policy rejects it");
    (refused.position, refused.fault.name(), refused.refusal().message)
}

fn calls(unanswered_calls: OnUnansweredCall) -> Policy {
    Policy { unanswered_calls, ..Policy::default() }
}

fn references(unresolved_references: OnUnresolvedReference, known: &[&str]) -> Policy {
    let known_ids = known.iter().map(|id| ItemId::from(*id)).collect();
    Policy { unresolved_references, known_ids, ..Policy::default() }
}

#[test]
fn default_policy_equals_repair() {
    let given = [
        reasoning("rs_1"),
        user("hi"),
        call("call_1", "{}"),
        output("call_2", "ok"),
        reference("msg_1"),
    ];
    assert_eq!(repair_with(&given, &Policy::default()), Ok(repair(&given)));
}

#[test]
fn drop_policy_removes_call_and_its_reasoning() {
    let given = [user("hi"), reasoning("rs_1"), call("call_1", "{}"), user("bye")];
    let policy = calls(OnUnansweredCall::Drop);
    assert_eq!(left_under(&policy, &given), [given[0].text(), given[3].text()]);
    let call = (2, "unanswered_call", Action::Dropped);
    let reasoning = (1, "lone_reasoning", Action::Dropped);
    assert_eq!(repairs_under(&policy, &given), [call, reasoning]);
}

#[test]
fn reasoning_followed_by_a_second_item_stays() {
    let given = [
        user("hi"),
        reasoning("rs_1"),
        call("call_1", "{}"),
        call("call_2", "{}"),
        output("call_2", "ok"),
    ];
    let left = left_under(&calls(OnUnansweredCall::Drop), &given);
    let expected = [&given[..2], &given[3..]].concat();
    assert_eq!(left, texts(&expected));
}

#[test]
fn reject_policy_quotes_the_provider_for_unanswered_calls() {
    let given = [user("hi"), call("call_1", "{}"), user("bye")];
    let words = "No tool output found for function call call_1.".to_owned();
    let expected = (Some(1), "unanswered_call", words);
    assert_eq!(refused(&calls(OnUnansweredCall::Reject), &given), expected);
}

#[test]
fn reject_policy_covers_lone_reasoning() {
    let policy = Policy { lone_reasoning: OnLoneReasoning::Reject, ..Policy::default() };
    let given = [user("hi"), reasoning("rs_1"), user("bye")];
    let words = "Item 'rs_1' of type 'reasoning' was provided without its required following item.";
    assert_eq!(refused(&policy, &given), (Some(1), "lone_reasoning", words.to_owned()));
}

#[test]
fn reasoning_left_alone_by_a_repair_is_not_rejected() {
    let policy = Policy {
        unanswered_calls: OnUnansweredCall::Drop,
        lone_reasoning: OnLoneReasoning::Reject,
        ..Policy::default()
    };
    let given = [user("hi"), reasoning("rs_1"), call("call_1", "{}"), user("bye")];
    assert_eq!(left_under(&policy, &given), [given[0].text(), given[3].text()]);
}

#[test]
fn reject_policy_covers_outputs_without_call() {
    let policy = Policy { outputs_without_call: OnOutputWithoutCall::Reject, ..Policy::default() };
    let given = [user("hi"), output("call_1", "ok")];
    let words = "No tool call found for function call output with call_id call_1.".to_owned();
    assert_eq!(refused(&policy, &given), (Some(1), "output_without_call", words));
}

#[test]
fn keep_policy_keeps_outputs_without_call() {
    let policy = Policy { outputs_without_call: OnOutputWithoutCall::Keep, ..Policy::default() };
    let given = [output("call_1", "ok"), output("call_2", "ok")];
    assert_eq!(left_under(&policy, &given), texts(&given));
}

#[test]
fn unresolved_reference_follows_the_policy() {
    use OnUnresolvedReference::{Drop, Keep, Reject};
    let given = [user("hi"), reference("msg_1"), reference("msg_2")];
    let known = ["msg_1"];
    assert_eq!(left_under(&references(Keep, &known), &given), texts(&given));
    let repairs = repairs_under(&references(Drop, &known), &given);
    assert_eq!(repairs, [(2, "unresolved_reference", Action::Dropped)]);
    let (position, name, words) = refused(&references(Reject, &known), &given);
    assert_eq!((position, name), (Some(2), "unresolved_reference"));
    assert!(words.starts_with("Item with id 'msg_2' not found."), "{words}");
}

#[test]
fn known_reference_stays_under_any_policy() {
    for on in [OnUnresolvedReference::Drop, OnUnresolvedReference::Reject] {
        let given = [user("hi"), reasoning("rs_1"), reference("msg_1")];
        assert_eq!(left_under(&references(on, &["msg_1"]), &given), texts(&given));
    }
}

#[test]
fn reasoning_is_dropped_with_the_reference_after_it() {
    let given = [user("hi"), reasoning("rs_1"), reference("msg_1"), user("bye")];
    let left = left_under(&references(OnUnresolvedReference::Drop, &[]), &given);
    assert_eq!(left, [given[0].text(), given[3].text()]);
}

#[test]
fn first_rejected_fault_of_the_provider_is_returned() {
    let policy = Policy {
        unanswered_calls: OnUnansweredCall::Reject,
        lone_reasoning: OnLoneReasoning::Reject,
        ..Policy::default()
    };
    let given = [user("hi"), reasoning("rs_1"), user("Hello?"), call("call_1", "{}")];
    let (position, fault) = check(&given).into_iter().next().expect("a provider refuses it");
    assert_eq!(
        refused(&policy, &given),
        (Some(position), fault.name(), fault.refusal(position).message)
    );
}

#[test]
fn faults_without_a_policy_are_always_repaired() {
    let policy = calls(OnUnansweredCall::Reject);
    let given = [assistant("msg_1", "Hello."), assistant("msg_1", "Hello.")];
    assert_eq!(repairs_under(&policy, &given), [(1, "duplicate_item", Action::Dropped)]);
}

#[test]
fn items_without_their_id_are_dropped_unless_paired() {
    let policy = Policy { missing_ids: OnMissingId::Drop, ..Policy::default() };
    let given = [
        item(r#"{"type":"web_search_call","status":"completed"}"#),
        item(r#"{"type":"local_shell_call","call_id":"c1","status":"completed","action":{}}"#),
        item(r#"{"type":"local_shell_call_output","call_id":"c1","output":"ok"}"#),
    ];
    assert_eq!(
        repairs_under(&policy, &given),
        [(0, "missing_id", Action::Dropped), (1, "missing_id", Action::IdAdded)]
    );
    assert_eq!(left_under(&policy, &given).len(), 2);
}

#[test]
fn missing_id_is_rejected_with_the_providers_text() {
    let policy = Policy { missing_ids: OnMissingId::Reject, ..Policy::default() };
    let given = [user("hi"), item(r#"{"type":"file_search_call","status":"completed"}"#)];
    let message = "Missing required parameter: 'input[1].id'.".to_owned();
    assert_eq!(refused(&policy, &given), (Some(1), "missing_id", message));
}
