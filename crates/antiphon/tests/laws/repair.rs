//! Properties of a repair, checked by an independent judge.

use antiphon::Item;
use antiphon::faults::Fault;
use antiphon::repair::{
    OnLoneReasoning, OnOutputWithoutCall, OnUnansweredCall, OnUnresolvedReference, Policy, check,
    filter_orphaned_reasoning, repair, repair_with,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::history::{End, History, Numbering, items, numbering, turns};
use crate::judge::{judge, output_call_id};
use crate::mangle::{mangled, mishaps};

fn values(items: &[Item]) -> Vec<Value> {
    let value = |item: &Item| serde_json::from_str(item.text()).expect("an item is JSON");
    items.iter().map(value).collect()
}

fn texts(items: &[Item]) -> Vec<&str> {
    items.iter().map(Item::text).collect()
}

/// A conversation with faults.
fn broken() -> impl Strategy<Value = Vec<Value>> {
    (turns(), numbering(), mishaps()).prop_map(|(turns, numbering, mishaps)| {
        let history = History::from_turns(&turns, numbering, End::Over);
        mangled(values(&history.items()), &mishaps)
    })
}

/// Any policy without rejections. It knows no ids for references.
fn mending_policies() -> impl Strategy<Value = Policy> {
    use {OnUnansweredCall as Calls, OnUnresolvedReference as References};
    let calls = proptest::sample::select(&[Calls::Answer, Calls::Drop][..]);
    let references = proptest::sample::select(&[References::Keep, References::Drop][..]);
    (calls, references).prop_map(|(unanswered_calls, unresolved_references)| Policy {
        unanswered_calls,
        unresolved_references,
        ..Policy::default()
    })
}

fn rejecting_policies() -> impl Strategy<Value = Policy> {
    (mending_policies(), any::<[bool; 4]>()).prop_map(|(mut policy, rejects)| {
        if rejects[0] {
            policy.unanswered_calls = OnUnansweredCall::Reject;
        }
        if rejects[1] {
            policy.lone_reasoning = OnLoneReasoning::Reject;
        }
        if rejects[2] {
            policy.outputs_without_call = OnOutputWithoutCall::Reject;
        }
        if rejects[3] {
            policy.unresolved_references = OnUnresolvedReference::Reject;
        }
        policy
    })
}

/// The policy, with defaults instead of rejections.
fn mending(policy: &Policy) -> Policy {
    let mut policy = policy.clone();
    policy.lone_reasoning = OnLoneReasoning::Drop;
    policy.outputs_without_call = OnOutputWithoutCall::Drop;
    if policy.unanswered_calls == OnUnansweredCall::Reject {
        policy.unanswered_calls = OnUnansweredCall::Answer;
    }
    if policy.unresolved_references == OnUnresolvedReference::Reject {
        policy.unresolved_references = OnUnresolvedReference::Drop;
    }
    policy
}

/// The policy, with defaults instead of every setting other than a rejection.
fn only_rejecting(mut policy: Policy) -> Policy {
    if policy.unanswered_calls == OnUnansweredCall::Drop {
        policy.unanswered_calls = OnUnansweredCall::Answer;
    }
    policy.unresolved_references = OnUnresolvedReference::Keep;
    policy
}

fn rejects(policy: &Policy, fault: &Fault) -> bool {
    match fault {
        Fault::UnansweredCall { .. } => policy.unanswered_calls == OnUnansweredCall::Reject,
        Fault::LoneReasoning { .. } => policy.lone_reasoning == OnLoneReasoning::Reject,
        Fault::OutputWithoutCall { .. } => {
            policy.outputs_without_call == OnOutputWithoutCall::Reject
        }
        Fault::MissingCallId { kind } | Fault::EmptyCallId { kind } => {
            kind.call().is_some() && policy.outputs_without_call == OnOutputWithoutCall::Reject
        }
        Fault::UnresolvedReference { .. } => {
            policy.unresolved_references == OnUnresolvedReference::Reject
        }
        _ => false,
    }
}

/// The fields that a repair must not change: all except ids.
fn without_ids(item: &Value) -> Value {
    let mut item = item.clone();
    let fields = item.as_object_mut().expect("an item is an object");
    fields.remove("id");
    fields.remove("call_id");
    item
}

/// Whether it is a placeholder output of the repair.
fn is_made_up(item: &Value) -> bool {
    let is_empty_search = item["type"] == "tool_search_output" && item["tools"] == json!([]);
    is_empty_search || item.to_string().contains("No output was recorded for this call.")
}

/// The result of a policy without rejections.
fn mended(given: &[Value], policy: &Policy) -> Vec<Item> {
    repair_with(&items(given), policy).expect("the policy rejects nothing").items
}

/// Whether `part` is `whole` with some items left out.
fn is_in_order(part: &[Value], whole: &[Value]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|item| whole.any(|other| other == item))
}

proptest! {
    #[test]
    fn well_formed_history_is_unchanged(turns in turns(), policy in rejecting_policies()) {
        let given = History::from_turns(&turns, Numbering::Unique, End::Over).items();
        prop_assert_eq!(judge(&values(&given)), Ok(()), "the judge knows well-formed histories");
        let repaired = repair_with(&given, &policy).expect("there is nothing to reject");
        prop_assert_eq!(repaired.repairs, vec![]);
        prop_assert_eq!(texts(&repaired.items), texts(&given));
    }

    #[test]
    fn repaired_history_is_accepted(given in broken(), policy in mending_policies()) {
        let repaired = mended(&given, &policy);
        prop_assert_eq!(judge(&values(&repaired)), Ok(()));
        prop_assert_eq!(check(&repaired), vec![]);
    }

    #[test]
    fn the_default_policy_is_repair(given in broken()) {
        let given = items(&given);
        prop_assert_eq!(repair_with(&given, &Policy::default()), Ok(repair(&given)));
    }

    #[test]
    fn mixed_policy_repairs_the_faults_it_accepts(
        given in broken(),
        policy in rejecting_policies(),
    ) {
        let given = items(&given);
        match repair_with(&given, &policy) {
            Ok(repaired) => {
                let is_rejected = |(_, fault): &(usize, Fault)| rejects(&policy, fault);
                prop_assert!(!check(&given).iter().any(is_rejected));
                prop_assert_eq!(Ok(repaired), repair_with(&given, &mending(&policy)));
            }
            Err(refused) => prop_assert!(rejects(&policy, &refused.fault)),
        }
    }

    #[test]
    fn rejection_matches_the_providers_first_error(
        given in broken(),
        policy in rejecting_policies(),
    ) {
        let given = items(&given);
        let policy = only_rejecting(policy);
        let first = check(&given).into_iter().find(|(_, fault)| rejects(&policy, fault));
        let refused = repair_with(&given, &policy).err();
        let refused = refused.and_then(|refused| Some((refused.position?, refused.fault)));
        prop_assert_eq!(refused, first);
    }

    #[test]
    fn dropped_calls_leave_no_placeholder(given in broken()) {
        let policy = Policy { unanswered_calls: OnUnansweredCall::Drop, ..Policy::default() };
        let left = values(&mended(&given, &policy));
        prop_assert!(!left.iter().any(is_made_up));
    }

    #[test]
    fn filter_removes_only_orphaned_reasoning(given in broken()) {
        let given = items(&given);
        let filtered = filter_orphaned_reasoning(&given);
        let mut left = given.clone();
        for mend in filtered.repairs.iter().rev() {
            let orphan = left.remove(mend.position);
            prop_assert_eq!(orphan.head().kind.as_str(), "reasoning");
            prop_assert!(orphan.head().id.is_some());
        }
        prop_assert_eq!(&filtered.items, &left);
        prop_assert_eq!(filter_orphaned_reasoning(&left).repairs, vec![]);
    }

    #[test]
    fn check_finds_exactly_the_rejected_faults(given in broken()) {
        let found = check(&items(&given));
        let refused = judge(&given);
        prop_assert_eq!(found.is_empty(), refused.is_ok(), "{:?} {:?}", found, refused);
    }

    #[test]
    fn repair_is_idempotent(given in broken(), policy in mending_policies()) {
        let once = mended(&given, &policy);
        let twice = repair_with(&once, &policy).expect("the policy rejects nothing");
        prop_assert_eq!(twice.repairs, vec![]);
        prop_assert_eq!(texts(&twice.items), texts(&once));
    }

    #[test]
    fn remaining_items_keep_order_and_fields(
        given in broken(),
        policy in mending_policies(),
    ) {
        let left = values(&mended(&given, &policy));
        let left = left.iter().filter(|item| !is_made_up(item));
        let left: Vec<Value> = left.map(without_ids).collect();
        let given: Vec<Value> = given.iter().map(without_ids).collect();
        prop_assert!(is_in_order(&left, &given), "{left:#?}\nof {given:#?}");
    }

    #[test]
    fn every_change_is_reported(given in broken(), policy in mending_policies()) {
        let given = items(&given);
        let repaired = repair_with(&given, &policy).expect("the policy rejects nothing");
        let is_changed = texts(&repaired.items) != texts(&given);
        prop_assert_eq!(is_changed, !repaired.repairs.is_empty());
        prop_assert!(repaired.repairs.iter().all(|mend| mend.position < given.len()));
    }

    #[test]
    fn outputs_keep_their_calls_under_any_numbering(
        turns in turns(),
        numbering in numbering(),
        strips_ids in any::<bool>(),
    ) {
        let history = History::from_turns(&turns, numbering, End::Over);
        let mut given = values(&history.items());
        if strips_ids {
            given.iter_mut().for_each(strip_id);
        }
        let left = values(&repair(&items(&given)).items);
        prop_assert_eq!(left.len(), given.len());
        for output in left.iter().filter(|item| number_of_output(item).is_some()) {
            let call = left.iter().find(|item| answers(output, item));
            prop_assert_eq!(call.and_then(number_of_call), number_of_output(output));
        }
    }

    #[test]
    fn abandoned_turn_takes_no_later_output(
        left in turns(),
        later in turns(),
        numbering in numbering(),
    ) {
        let left = History::from_turns(&left, numbering, End::Waiting);
        let later = History::numbered_from(1000, &later, numbering, End::Over);
        let both = left.pieces.iter().chain(&later.pieces);
        let given: Vec<Value> = both.map(|piece| piece.json.clone()).collect();
        let outputs = |items: &[Value]| -> Vec<u64> {
            items.iter().filter_map(number_of_output).collect()
        };
        let repaired = values(&repair(&items(&given)).items);
        prop_assert_eq!(judge(&repaired), Ok(()));
        prop_assert_eq!(outputs(&repaired), outputs(&given));
    }
}

/// Removes the id, as clients do that store none. A local shell's output has only the id of its
/// call.
fn strip_id(item: &mut Value) {
    let is_own = item["type"] != "local_shell_call_output";
    if let Some(fields) = item.as_object_mut().filter(|_| is_own) {
        fields.remove("id");
    }
}

/// Whether `output` answers `call`, as a provider sees it.
fn answers(output: &Value, call: &Value) -> bool {
    let answered_by = call["type"].as_str().map(|call| format!("{call}_output"));
    output["type"].as_str() == answered_by.as_deref()
        && output_call_id(output) == call["call_id"].as_str()
}

/// The number in the result that an output carries.
fn number_of_output(output: &Value) -> Option<u64> {
    let is_output = output["type"].as_str()?.ends_with("_output");
    let text = output["output"].to_string();
    let (_, rest) = text.split_once("result ").filter(|_| is_output)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The number in a call's arguments.
fn number_of_call(call: &Value) -> Option<u64> {
    let context =
        ["arguments", "input", "action", "operation"].map(|field| call[field].to_string());
    let digits: String = context.concat().chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}
