//! Tests of cancelled runs.

use crate::run::{CancelEffect, CancelMode, Cancellation, Phase, Step};

#[test]
fn behaviour_45_after_turn_the_tools_run_and_are_saved_and_no_turn_follows() {
    let mut run = Cancellation::default();
    assert_eq!(run.cancel(CancelMode::AfterTurn), CancelEffect::FinishTurn);
    assert_eq!(run.after(Phase::Model), Step::Enter(Phase::Tools));
    assert_eq!(run.after(Phase::Tools), Step::Enter(Phase::Save));
    assert_eq!(run.after(Phase::Save), Step::Stop);
    assert_eq!(run.after(Phase::Save), Step::Stop);
}

#[test]
fn behaviour_46_immediate_unblocks_a_waiting_consumer() {
    for before in [None, Some(CancelMode::AfterTurn)] {
        let mut run = Cancellation::default();
        before.map(|mode| run.cancel(mode));
        assert_eq!(run.cancel(CancelMode::Immediate), CancelEffect::Unblock);
        assert_eq!(run.cancel(CancelMode::Immediate), CancelEffect::None);
        for phase in [Phase::Model, Phase::Tools, Phase::Save] {
            assert_eq!(run.after(phase), Step::Stop);
        }
    }
}

#[test]
fn a_run_that_nobody_cancels_goes_on() {
    let mut run = Cancellation::default();
    let steps = [Phase::Model, Phase::Tools, Phase::Save].map(|phase| run.after(phase));
    let expected = [Phase::Tools, Phase::Save, Phase::Model].map(Step::Enter);
    assert_eq!(steps, expected);
}
