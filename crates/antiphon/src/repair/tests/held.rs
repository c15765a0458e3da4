//! Input for a server that holds the conversation before it.

use super::{Action, texts};
use crate::item::given::{
    assistant, bare_assistant, call, call_under, item, output, reasoning, reference, user,
};
use crate::item::{FingerprintKey, Item, ItemId, Kind};
use crate::repair::{
    Finding, Held, OnAnswer, OnUnansweredCall, Policy, Refused, RepairedInput, check_held,
    repair_held,
};
use crate::transcript::{HeldItem, Transcript};

const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

fn transcript(items: &[Item]) -> Transcript {
    let held = items.iter().enumerate().map(|(position, item)| {
        let id = item.head().id.clone();
        let id = id.unwrap_or_else(|| ItemId::from(format!("item_{position}")));
        HeldItem::new(id, item, KEY, None)
    });
    held.collect()
}

fn continued_with(
    held: &[Item],
    incoming: &[Item],
    policy: &Policy,
) -> Result<RepairedInput, Refused> {
    repair_held(Held::Items(&transcript(held), KEY), incoming, policy)
}

/// The expected result if `incoming` needs no repair.
fn unchanged(incoming: &[Item]) -> RepairedInput {
    let sources = (0..incoming.len()).map(Some).collect();
    RepairedInput { items: incoming.to_vec(), sources, findings: vec![] }
}

fn continued(held: &[Item], incoming: &[Item]) -> RepairedInput {
    continued_with(held, incoming, &Policy::default()).expect("the default rejects nothing")
}

type Found = (Option<usize>, Option<&'static str>, Option<Action>);

fn found(findings: &[Finding]) -> Vec<Found> {
    let fault = |finding: &Finding| finding.fault.as_ref().map(crate::faults::Fault::name);
    findings.iter().map(|finding| (finding.position, fault(finding), finding.action)).collect()
}

fn checked(held: &[Item], incoming: &[Item]) -> Vec<Found> {
    found(&check_held(Held::Items(&transcript(held), KEY), incoming))
}

const DROPPED: Option<Action> = Some(Action::Dropped);
const ANSWERED: Option<Action> = Some(Action::Answered);

#[test]
fn resent_call_next_to_its_output_is_dropped() {
    let held = [user("Echo hello"), call_under("fc_1", "call_1", "{}")];
    let incoming = [held[0].clone(), held[1].clone(), output("call_1", "hello")];
    let continuation = continued(&held, &incoming);
    assert_eq!(texts(&continuation.items), [incoming[2].text()]);
    let message = (Some(0), None, DROPPED);
    let call = (Some(1), Some("duplicate_item"), DROPPED);
    assert_eq!(found(&continuation.findings), [message, call]);
}

#[test]
fn output_for_a_stored_call_is_not_an_orphan() {
    let held = [user("hi"), call_under("fc_1", "call_1", "{}")];
    let incoming = [output("call_1", "ok")];
    let expected = unchanged(&incoming);
    assert_eq!(continued(&held, &incoming), expected);
    assert_eq!(checked(&held, &incoming), []);
}

#[test]
fn placeholder_for_a_held_call_precedes_new_items() {
    let held = [user("hi"), call_under("fc_1", "call_1", "{}")];
    let incoming = [user("never mind")];
    let continuation = continued(&held, &incoming);
    let kinds: Vec<_> = continuation.items.iter().map(|item| item.head().kind.as_str()).collect();
    assert_eq!(kinds, ["function_call_output", "message"]);
    assert_eq!(found(&continuation.findings), [(None, Some("unanswered_call"), ANSWERED)]);
    assert_eq!(continuation.findings[0].id, Some("fc_1".into()));
    assert_eq!(checked(&held, &continuation.items), []);
}

#[test]
fn unanswered_held_call_is_answered_or_rejected() {
    let held = [user("hi"), call_under("fc_1", "call_1", "{}")];
    let with = |on| {
        let policy = Policy { unanswered_calls: on, ..Policy::default() };
        continued_with(&held, &[user("never mind")], &policy)
    };
    let answered = with(OnUnansweredCall::Drop).expect("the policy rejects nothing");
    assert_eq!(answered.items.len(), 2);
    let refused = with(OnUnansweredCall::Reject).expect_err("the policy rejects it");
    assert_eq!(refused.position, None);
    assert_eq!(refused.refusal().message, "No tool output found for function call call_1.");
}

#[test]
fn held_call_without_placeholder_is_rejected() {
    let screen = item(
        r#"{"type":"computer_call","id":"cu_1","call_id":"call_1","status":"completed",
            "action":{"type":"screenshot"},"pending_safety_checks":[]}"#,
    );
    let held = [user("hi"), screen];
    let refused = continued_with(&held, &[user("bye")], &Policy::default());
    assert_eq!(refused.expect_err("nothing can answer it").fault.name(), "unanswered_call");
    assert_eq!(checked(&held, &[user("bye")]), [(None, Some("unanswered_call"), None)]);
}

#[test]
fn faults_among_held_items_are_ignored() {
    let held = [
        item(r#"{"id":"odd","role":"user","content":"hi"}"#),
        reasoning("rs_1"),
        output("call_9", "ok"),
        user("hi"),
    ];
    assert_eq!(checked(&held, &[user("bye")]), []);
}

#[test]
fn message_under_a_held_id_loses_it() {
    let held = [item(r#"{"id":"msg_1","role":"user","content":"hi"}"#), bare_assistant("Hello.")];
    let incoming = [item(r#"{"id":"msg_1","role":"user","content":"bye"}"#)];
    let continuation = continued(&held, &incoming);
    assert_eq!(texts(&continuation.items), [r#"{"role":"user","content":"bye"}"#]);
    let expected = (Some(0), Some("duplicate_item"), Some(Action::IdRemoved));
    assert_eq!(found(&continuation.findings), [expected]);
}

#[test]
fn only_the_new_call_of_a_held_call_id_is_renamed() {
    let held = [user("hi"), call("call_0", r#"{"city":"Bonn"}"#), output("call_0", "10 degrees")];
    let incoming =
        [user("Rome?"), call("call_0", r#"{"city":"Rome"}"#), output("call_0", "20 degrees")];
    let continuation = continued(&held, &incoming);
    let call_id = |item: &Item| item.head().call_id.as_ref().map(ToString::to_string);
    let call_ids: Vec<_> = continuation.items.iter().filter_map(call_id).collect();
    assert_eq!(call_ids, ["call_0_2", "call_0_2"]);
}

#[test]
fn finding_positions_refer_to_the_input() {
    let held = [user("hi"), assistant("msg_1", "Hello.")];
    let incoming = [held[1].clone(), user("bye"), reasoning("rs_1"), user("Are you there?")];
    let expected =
        [(Some(0), Some("duplicate_item"), DROPPED), (Some(2), Some("lone_reasoning"), DROPPED)];
    assert_eq!(checked(&held, &incoming), expected);
}

#[test]
fn kind_decides_if_held_items_are_unknown() {
    let incoming = [
        user("hi"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "ok"),
        output("call_0", "held before"),
    ];
    let continuation = repair_held(Held::Unknown, &incoming, &Policy::default());
    let continuation = continuation.expect("the default rejects nothing");
    let kept = [incoming[0].text(), incoming[3].text(), incoming[4].text()];
    assert_eq!(texts(&continuation.items), kept);
    let expected =
        [(Some(1), Some("duplicate_item"), DROPPED), (Some(2), Some("duplicate_item"), DROPPED)];
    assert_eq!(found(&continuation.findings), expected);
    assert_eq!(found(&check_held(Held::Unknown, &incoming)), expected);
}

#[test]
fn answers_stay_if_held_items_are_unknown() {
    for kind in Kind::ALL {
        let is_made_by_servers = matches!(kind, Kind::ProgramOutput | Kind::MultiAgentCallOutput);
        if kind.call().is_none() || is_made_by_servers {
            continue;
        }
        let fields = r#""call_id":"call_1","approval_request_id":"call_1","output":"ok""#;
        let answer = item(format!(r#"{{"type":"{kind}",{fields}}}"#));
        let incoming = [answer, user("Go on.")];
        assert_eq!(check_held(Held::Unknown, &incoming), [], "{kind}");
        let continuation = repair_held(Held::Unknown, &incoming, &Policy::default());
        assert_eq!(continuation, Ok(unchanged(&incoming)), "{kind}");
    }
}

#[test]
fn policy_drops_answers_if_held_items_are_unknown() {
    let approval =
        item(r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}"#);
    let policy = Policy { answers: OnAnswer::Drop, ..Policy::default() };
    let continuation = repair_held(Held::Unknown, &[approval], &policy).unwrap();
    assert_eq!(found(&continuation.findings), [(Some(0), Some("duplicate_output"), DROPPED)]);
    assert_eq!(continuation.items, []);
}

#[test]
fn outputs_stay_next_to_references() {
    let incoming = [user("hi"), reasoning("rs_1"), reference("fc_1"), output("call_1", "ok")];
    let continuation = repair_held(Held::Referenced, &incoming, &Policy::default());
    assert_eq!(continuation, Ok(unchanged(&incoming)));
    assert_eq!(check_held(Held::Referenced, &incoming), []);
}

fn repaired_after_unknown(incoming: &[Item]) -> RepairedInput {
    repair_held(Held::Unknown, incoming, &Policy::default()).expect("the default rejects nothing")
}

fn approval(approve: bool) -> Item {
    let text = r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":"#;
    item(format!("{text}{approve}}}"))
}

#[test]
fn second_output_is_a_duplicate_if_held_items_are_unknown() {
    for (answer, other) in
        [(output("call_1", "ok"), output("call_1", "failed")), (approval(true), approval(false))]
    {
        let copy = [answer.clone(), user("hi"), answer.clone()];
        let expected = [(Some(2), Some("duplicate_output"), DROPPED)];
        assert_eq!(found(&check_held(Held::Unknown, &copy)), expected);
        let repaired = repaired_after_unknown(&copy);
        assert_eq!(texts(&repaired.items), texts(&copy[..2]));

        let different = [answer, user("hi"), other];
        let expected = [(Some(0), Some("duplicate_output"), Some(Action::Replaced))];
        let repaired = repaired_after_unknown(&different);
        assert_eq!(found(&repaired.findings), expected);
        assert_eq!(texts(&repaired.items), texts(&different[1..]));
    }
    let twice = [output("call_1", "ok"), output("call_1", "ok")];
    let found = check_held(Held::Unknown, &twice);
    assert_eq!(
        found[0].fault.as_ref().expect("a provider refuses it").refusal(1).message,
        "Duplicate function call output found with call_id call_1. Remove duplicate items from \
         your input and try again."
    );
}

#[test]
fn second_output_is_a_duplicate_next_to_references() {
    let incoming = [reference("fc_1"), output("call_1", "ok"), output("call_1", "ok")];
    let expected = [(Some(2), Some("duplicate_output"), DROPPED)];
    assert_eq!(found(&check_held(Held::Referenced, &incoming)), expected);
}

#[test]
fn each_of_two_resent_calls_with_one_call_id_keeps_its_output() {
    let calls = [call_under("fc_1", "call_0", r#"{"a":1}"#), call_under("fc_2", "call_0", "{}")];
    let outputs = [output("call_0", "one"), output("call_0", "two"), output("call_0", "three")];
    let incoming = [&calls[..], &outputs[..2]].concat();
    assert_eq!(texts(&repaired_after_unknown(&incoming).items), texts(&outputs[..2]));
    let incoming = [&calls[..], &outputs].concat();
    let left = repaired_after_unknown(&incoming).items;
    assert_eq!(texts(&left), [outputs[0].text(), outputs[2].text()]);
    let resent = [&calls[..1], &calls[..1], &outputs[..2]].concat();
    assert_eq!(texts(&repaired_after_unknown(&resent).items), texts(&outputs[1..2]));
}
