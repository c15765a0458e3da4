//! Tests of tools that run in parallel.

use super::function;
use crate::rules::{Outcome, OutcomeEffect, Outcomes, ToolError};
use antiphon::item::given::output;

fn three() -> Outcomes {
    Outcomes::begin(["call_1", "call_2", "call_3"].map(function))
}

fn done(call_id: &str) -> Outcome {
    Outcome::Output(output(call_id, "ok"))
}

#[test]
fn outputs_come_in_the_models_order() {
    let mut outcomes = three();
    assert_eq!(outcomes.ended(2, done("call_3")), OutcomeEffect::Wait);
    assert_eq!(outcomes.ended(0, done("call_1")), OutcomeEffect::Wait);
    assert_eq!(outcomes.settle(), None);
    assert_eq!(outcomes.ended(1, done("call_2")), OutcomeEffect::Settle);
    let expected = ["call_1", "call_2", "call_3"].map(|call_id| output(call_id, "ok"));
    assert_eq!(outcomes.settle(), Some(Ok(expected.to_vec())));
}

#[test]
fn the_model_reads_of_a_failure() {
    let mut outcomes = Outcomes::begin([function("call_1")]);
    outcomes.ended(0, Outcome::Failed("no \"such\" city".to_owned()));
    assert_eq!(outcomes.settle(), Some(Ok(vec![output("call_1", "no \"such\" city")])));
}

#[test]
fn failing_tool_cancels_its_siblings_and_first_in_order_is_reported() {
    let raised = |reason: &str| Outcome::Raised(reason.to_owned());
    let mut outcomes = three();
    assert_eq!(outcomes.ended(2, raised("late in order")), OutcomeEffect::CancelOthers);
    assert_eq!(outcomes.ended(1, raised("first in order")), OutcomeEffect::Wait);
    assert_eq!(outcomes.ended(0, done("call_1")), OutcomeEffect::Settle);
    let error = ToolError {
        call: function("call_2"),
        reason: "first in order".to_owned(),
        outputs: vec![output("call_1", "ok")],
    };
    assert_eq!(outcomes.settle(), Some(Err(error)));
}

#[test]
fn cancelled_tool_has_no_output() {
    let mut outcomes = Outcomes::begin(["call_1", "call_2"].map(function));
    outcomes.ended(0, Outcome::Raised("broken".to_owned()));
    assert_eq!(outcomes.ended(1, Outcome::Cancelled), OutcomeEffect::Settle);
    let Some(Err(error)) = outcomes.settle() else { panic!("a tool raised") };
    assert_eq!((error.reason.as_str(), error.outputs), ("broken", vec![]));
}

#[test]
fn the_first_end_of_a_tool_counts() {
    let mut outcomes = Outcomes::begin([function("call_1")]);
    outcomes.ended(0, done("call_1"));
    outcomes.ended(0, Outcome::Cancelled);
    assert_eq!(outcomes.settle(), Some(Ok(vec![output("call_1", "ok")])));
}
