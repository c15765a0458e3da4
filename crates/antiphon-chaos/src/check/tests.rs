//! The checks find faults.

use std::collections::BTreeMap;

use serde_json::Value;

use super::conversation::ConversationCheck;
use super::model_input::{self, Expected};
use crate::ledger::{Deletion, Deletions, ItemRecord, Outcome, Target, Turn};
use crate::mark::Mark;
use crate::model::Plan;

/// An item of a turn. Part 0 is a user message; the others are model output.
fn row(turn: u32, part: usize) -> ItemRecord {
    ItemRecord {
        id: format!("msg_{turn}_{part}"),
        mark: Some(Mark::new(turn, part)),
        kind: "message".into(),
        status: Some("completed".into()),
        call_id: None,
    }
}

fn rows(of: &[(u32, usize)]) -> Vec<ItemRecord> {
    of.iter().map(|(turn, part)| row(*turn, *part)).collect()
}

fn turn(began: u64, plan: Plan, outcome: Outcome) -> Turn {
    Turn {
        target: Target::Conversation("conv".into()),
        body: Value::Null,
        inputs: 1,
        plan: Some(plan),
        began,
        ended: (outcome != Outcome::Unknown).then_some(began + 1),
        response: None,
        outcome,
        is_keyed: false,
    }
}

/// An acknowledged turn with one message each way.
fn done(number: u32, began: u64) -> Turn {
    turn(began, Plan::Short, Outcome::Done(rows(&[(number, 1)])))
}

fn faults(before: &[ItemRecord], now: &[ItemRecord], turns: &[(u32, Turn)]) -> Vec<String> {
    faults_with_deletions(&Deletions::new(), before, now, turns)
}

fn faults_with_deletions(
    deletions: &Deletions,
    before: &[ItemRecord],
    now: &[ItemRecord],
    turns: &[(u32, Turn)],
) -> Vec<String> {
    let turns: BTreeMap<u32, &Turn> = turns.iter().map(|(number, turn)| (*number, turn)).collect();
    ConversationCheck { before, now, turns, deletions, crashed: false }.faults()
}

#[track_caller]
fn assert_found(faults: &[String], fault: &str) {
    assert!(faults.iter().any(|found| found.contains(fault)), "{faults:?}");
}

#[test]
fn valid_conversation_has_no_fault() {
    let before = rows(&[(0, 0), (0, 1)]);
    let now = rows(&[(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (3, 0), (3, 1)]);
    let cut = |began| turn(began, Plan::Two, Outcome::Unknown);
    let refused = turn(9, Plan::Short, Outcome::Failed("busy".into()));
    let turns = [(1, done(1, 5)), (2, cut(6)), (3, cut(7)), (4, cut(8)), (5, refused)];
    assert_eq!(faults(&before, &now, &turns), [""; 0]);
}

#[test]
fn missing_or_incomplete_acknowledged_turn_is_found() {
    let turns = [(1, done(1, 5))];
    assert_found(&faults(&[], &[], &turns), "turn 1 is missing");
    assert_found(&faults(&[], &rows(&[(1, 0)]), &turns), "turn 1 is incomplete");
    assert_found(&faults(&[], &rows(&[(1, 1), (1, 0)]), &turns), "turn 1 is incomplete");
    let mut other = rows(&[(1, 0), (1, 1)]);
    other[1].id = "msg_other".into();
    assert_found(&faults(&[], &other, &turns), "turn 1 differs from the client's items");
}

#[test]
fn missing_announced_turn_is_found() {
    let mut announced = turn(5, Plan::Two, Outcome::Unknown);
    announced.response = Some("resp_1".into());
    assert_found(&faults(&[], &[], &[(1, announced)]), "turn 1 is missing");
}

#[test]
fn partial_turn_is_found() {
    let turns = [(1, turn(5, Plan::Two, Outcome::Unknown))];
    assert_found(&faults(&[], &rows(&[(1, 1)]), &turns), "not complete or cut");
    let mut reasoning = rows(&[(1, 0), (1, 1)]);
    reasoning[1].kind = "reasoning".into();
    assert_found(&faults(&[], &reasoning, &turns), "a partial item");
    let mut call = rows(&[(1, 0), (1, 1), (1, 2)]);
    call[1].status = Some("incomplete".into());
    assert_found(&faults(&[], &call, &turns), "after an unfinished item");
}

#[test]
fn duplicate_or_unrequested_items_are_found() {
    let twice = rows(&[(1, 0), (1, 1), (1, 0), (1, 1)]);
    assert_found(&faults(&[], &twice, &[(1, done(1, 5))]), "occurs twice");
    let mut apart = rows(&[(1, 0), (1, 1), (2, 0), (2, 1), (1, 0)]);
    apart[4].id = "msg_again".into();
    let turns = [(1, done(1, 5)), (2, done(2, 6))];
    assert_found(&faults(&[], &apart, &turns), "turn 1 is in two places");
    assert_found(&faults(&[], &rows(&[(7, 0)]), &[]), "turn 7 was not requested here");
    let refused = turn(5, Plan::Short, Outcome::Failed("busy".into()));
    assert_found(&faults(&[], &rows(&[(1, 0)]), &[(1, refused)]), "turn 1 failed but is stored");
    let mut answered = rows(&[(1, 0), (2, 0)]);
    for row in &mut answered {
        (row.kind, row.call_id) = ("function_call_output".into(), Some("call_1".into()));
    }
    assert_found(&faults(&[], &answered, &[]), "occurs twice");
}

#[test]
fn unexpected_changes_are_found() {
    let before = rows(&[(0, 0), (0, 1)]);
    assert_found(&faults(&before, &before[..1], &[]), "expected");
    assert_found(&faults(&before, &rows(&[(0, 1), (0, 0)]), &[]), "expected");
}

#[test]
fn turns_out_of_order_are_found() {
    let now = rows(&[(2, 0), (2, 1), (1, 0), (1, 1)]);
    let fault = "turn 2 began after the end of turn 1";
    assert_found(&faults(&[], &now, &[(1, done(1, 5)), (2, done(2, 10))]), fault);
    assert_eq!(faults(&[], &now, &[(1, done(1, 5)), (2, done(2, 6))]), [""; 0], "they overlapped");
}

#[test]
fn deleted_items_are_handled() {
    let before = rows(&[(0, 0), (0, 1)]);
    let model_request = Deletions::from([(Mark::new(0, 0), Deletion { done: None })]);
    assert_eq!(faults_with_deletions(&model_request, &before, &before, &[]), [""; 0]);
    assert_eq!(faults_with_deletions(&model_request, &before, &before[1..], &[]), [""; 0]);
    let done = Deletions::from([(Mark::new(0, 0), Deletion { done: Some(3) })]);
    assert_eq!(faults_with_deletions(&done, &before, &before[1..], &[]), [""; 0]);
    assert_found(
        &faults_with_deletions(&done, &before, &before, &[]),
        "was deleted but still exists",
    );
}

#[test]
fn model_input_equals_stored_items_without_deleted() {
    let [one, two, own] = [Mark::new(0, 0), Mark::new(0, 1), Mark::new(1, 0)];
    let stored = [one, two];
    let fault = |model_input: &[Mark], deletions: &Deletions| {
        model_input::fault(model_input, 1, 10, &Expected::All(&stored), deletions)
    };
    let none = Deletions::new();
    assert_eq!(fault(&[one, two, own], &none), None);
    for wrong in [&[two, own][..], &[two, one, own], &[one, two, two, own]] {
        assert!(fault(wrong, &none).is_some(), "{wrong:?}");
    }
    let deleted = |done| Deletions::from([(one, Deletion { done })]);
    for done in [None, Some(9), Some(11)] {
        assert_eq!(fault(&[two, own], &deleted(done)), None);
    }
    assert_eq!(fault(&[one, two, own], &deleted(Some(11))), None);
    assert!(fault(&[one, two, own], &deleted(Some(9))).is_some());
}
