//! Tests of cancelled runs.

use crate::rules::{CancelEffect, CancelMode, Cancellation, RunStep, TurnPhase};

#[test]
fn behaviour_45_after_turn_the_tools_run_and_are_saved_and_no_turn_follows() {
    let mut run = Cancellation::default();
    assert_eq!(run.cancel(CancelMode::AfterTurn), CancelEffect::FinishTurn);
    assert_eq!(run.after(TurnPhase::Model), RunStep::Enter(TurnPhase::Tools));
    assert_eq!(run.after(TurnPhase::Tools), RunStep::Enter(TurnPhase::Save));
    assert_eq!(run.after(TurnPhase::Save), RunStep::Stop);
    assert_eq!(run.after(TurnPhase::Save), RunStep::Stop);
}

#[test]
fn behaviour_46_immediate_unblocks_a_waiting_consumer() {
    for before in [None, Some(CancelMode::AfterTurn)] {
        let mut run = Cancellation::default();
        before.map(|mode| run.cancel(mode));
        assert_eq!(run.cancel(CancelMode::Immediate), CancelEffect::Unblock);
        assert_eq!(run.cancel(CancelMode::Immediate), CancelEffect::None);
        for phase in [TurnPhase::Model, TurnPhase::Tools, TurnPhase::Save] {
            assert_eq!(run.after(phase), RunStep::Stop);
        }
    }
}

#[test]
fn run_without_a_cancellation_continues() {
    let mut run = Cancellation::default();
    let steps = [TurnPhase::Model, TurnPhase::Tools, TurnPhase::Save].map(|phase| run.after(phase));
    let expected = [TurnPhase::Tools, TurnPhase::Save, TurnPhase::Model].map(RunStep::Enter);
    assert_eq!(steps, expected);
}
