//! The checks find what they are for.

use std::collections::BTreeMap;

use serde_json::Value;

use super::conversation::Found;
use super::view::{self, Expected};
use crate::ledger::{Deletion, Deletions, Place, Row, Told, Turn};
use crate::mark::Mark;
use crate::model::Plan;

/// An item of a turn: its first part is a user's message, the others are the model's.
fn row(turn: u32, part: usize) -> Row {
    Row {
        id: format!("msg_{turn}_{part}"),
        mark: Some(Mark::new(turn, part)),
        kind: "message".into(),
        status: Some("completed".into()),
        call_id: None,
    }
}

fn rows(of: &[(u32, usize)]) -> Vec<Row> {
    of.iter().map(|(turn, part)| row(*turn, *part)).collect()
}

fn turn(began: u64, plan: Plan, told: Told) -> Turn {
    Turn {
        place: Place::Conversation("conv".into()),
        body: Value::Null,
        inputs: 1,
        plan: Some(plan),
        began,
        ended: (told != Told::Nothing).then_some(began + 1),
        response: None,
        told,
        is_keyed: false,
    }
}

/// A turn of one message each way that was acknowledged.
fn done(number: u32, began: u64) -> Turn {
    turn(began, Plan::Short, Told::Done(rows(&[(number, 1)])))
}

fn faults(before: &[Row], now: &[Row], turns: &[(u32, Turn)]) -> Vec<String> {
    faults_but_for(&Deletions::new(), before, now, turns)
}

fn faults_but_for(
    deletions: &Deletions,
    before: &[Row],
    now: &[Row],
    turns: &[(u32, Turn)],
) -> Vec<String> {
    let turns: BTreeMap<u32, &Turn> = turns.iter().map(|(number, turn)| (*number, turn)).collect();
    Found { before, now, turns, deletions, crashed: false }.faults()
}

#[track_caller]
fn finds(faults: &[String], fault: &str) {
    assert!(faults.iter().any(|found| found.contains(fault)), "{faults:?}");
}

#[test]
fn what_was_promised_and_kept_is_no_fault() {
    let before = rows(&[(0, 0), (0, 1)]);
    let now = rows(&[(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (3, 0), (3, 1)]);
    let cut = |began| turn(began, Plan::Two, Told::Nothing);
    let refused = turn(9, Plan::Short, Told::Failed("busy".into()));
    let turns = [(1, done(1, 5)), (2, cut(6)), (3, cut(7)), (4, cut(8)), (5, refused)];
    assert_eq!(faults(&before, &now, &turns), [""; 0]);
}

#[test]
fn an_acknowledged_turn_that_is_missing_or_not_whole_is_found() {
    let turns = [(1, done(1, 5))];
    finds(&faults(&[], &[], &turns), "turn 1 is missing");
    finds(&faults(&[], &rows(&[(1, 0)]), &turns), "turn 1 is not whole");
    finds(&faults(&[], &rows(&[(1, 1), (1, 0)]), &turns), "turn 1 is not whole");
    let mut other = rows(&[(1, 0), (1, 1)]);
    other[1].id = "msg_other".into();
    finds(&faults(&[], &other, &turns), "turn 1 is not as told");
}

#[test]
fn an_announced_turn_that_left_nothing_is_found() {
    let mut announced = turn(5, Plan::Two, Told::Nothing);
    announced.response = Some("resp_1".into());
    finds(&faults(&[], &[], &[(1, announced)]), "turn 1 is missing");
}

#[test]
fn half_a_turn_is_found() {
    let turns = [(1, turn(5, Plan::Two, Told::Nothing))];
    finds(&faults(&[], &rows(&[(1, 1)]), &turns), "neither whole nor cut");
    let mut reasoning = rows(&[(1, 0), (1, 1)]);
    reasoning[1].kind = "reasoning".into();
    finds(&faults(&[], &reasoning, &turns), "half an item");
    let mut call = rows(&[(1, 0), (1, 1), (1, 2)]);
    call[1].status = Some("incomplete".into());
    finds(&faults(&[], &call, &turns), "behind an unfinished item");
}

#[test]
fn what_is_there_twice_or_uncalled_for_is_found() {
    let twice = rows(&[(1, 0), (1, 1), (1, 0), (1, 1)]);
    finds(&faults(&[], &twice, &[(1, done(1, 5))]), "stands there twice");
    let mut apart = rows(&[(1, 0), (1, 1), (2, 0), (2, 1), (1, 0)]);
    apart[4].id = "msg_again".into();
    let turns = [(1, done(1, 5)), (2, done(2, 6))];
    finds(&faults(&[], &apart, &turns), "turn 1 is in two places");
    finds(&faults(&[], &rows(&[(7, 0)]), &[]), "turn 7 was not asked for here");
    let refused = turn(5, Plan::Short, Told::Failed("busy".into()));
    finds(&faults(&[], &rows(&[(1, 0)]), &[(1, refused)]), "turn 1 failed and is there");
    let mut answered = rows(&[(1, 0), (2, 0)]);
    for row in &mut answered {
        (row.kind, row.call_id) = ("function_call_output".into(), Some("call_1".into()));
    }
    finds(&faults(&[], &answered, &[]), "stands there twice");
}

#[test]
fn what_changes_behind_the_clients_backs_is_found() {
    let before = rows(&[(0, 0), (0, 1)]);
    finds(&faults(&before, &before[..1], &[]), "in the place of");
    finds(&faults(&before, &rows(&[(0, 1), (0, 0)]), &[]), "in the place of");
}

#[test]
fn turns_out_of_order_are_found() {
    let now = rows(&[(2, 0), (2, 1), (1, 0), (1, 1)]);
    let fault = "turn 2 began behind the end of turn 1";
    finds(&faults(&[], &now, &[(1, done(1, 5)), (2, done(2, 10))]), fault);
    assert_eq!(faults(&[], &now, &[(1, done(1, 5)), (2, done(2, 6))]), [""; 0], "they overlapped");
}

#[test]
fn what_was_deleted_is_missed_nowhere_and_found_anywhere() {
    let before = rows(&[(0, 0), (0, 1)]);
    let asked = Deletions::from([(Mark::new(0, 0), Deletion { done: None })]);
    assert_eq!(faults_but_for(&asked, &before, &before, &[]), [""; 0]);
    assert_eq!(faults_but_for(&asked, &before, &before[1..], &[]), [""; 0]);
    let done = Deletions::from([(Mark::new(0, 0), Deletion { done: Some(3) })]);
    assert_eq!(faults_but_for(&done, &before, &before[1..], &[]), [""; 0]);
    finds(&faults_but_for(&done, &before, &before, &[]), "was deleted and is there");
}

#[test]
fn a_view_is_all_that_is_kept_and_nothing_that_was_deleted() {
    let [one, two, own] = [Mark::new(0, 0), Mark::new(0, 1), Mark::new(1, 0)];
    let kept = [one, two];
    let fault = |view: &[Mark], deletions: &Deletions| {
        view::fault(view, 1, 10, &Expected::All(&kept), deletions)
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
