//! What `--policy` says.

use antiphon::repair::{
    OnLoneReasoning, OnOutputWithoutCall, OnUnansweredCall, OnUnresolvedReference, Policy,
};

use crate::failure::Failure;

/// The way in which histories are mended.
#[derive(Debug, PartialEq)]
pub(super) enum Way {
    Policy(Policy),
    /// Orphaned reasoning is left out and nothing else is touched.
    OrphanedReasoning,
}

const POLICIES: &str = "the policies are repair, drop, reject, orphaned-reasoning, or of \
                        calls=answer|drop|reject, reasoning=drop|reject, \
                        outputs=drop|keep|reject, references=keep|drop|reject those that differ, \
                        separated by commas";

impl Way {
    pub(super) fn parse(text: Option<&str>) -> Result<Self, Failure> {
        Ok(Self::Policy(match text.unwrap_or("repair") {
            "repair" => Policy::default(),
            "drop" => Policy { unanswered_calls: OnUnansweredCall::Drop, ..Policy::default() },
            "reject" => Policy {
                unanswered_calls: OnUnansweredCall::Reject,
                lone_reasoning: OnLoneReasoning::Reject,
                outputs_without_call: OnOutputWithoutCall::Reject,
                ..Policy::default()
            },
            "orphaned-reasoning" => return Ok(Self::OrphanedReasoning),
            choices => of_choices(choices)?,
        }))
    }
}

fn of_choices(choices: &str) -> Result<Policy, Failure> {
    let mut policy = Policy::default();
    for choice in choices.split(',') {
        if !choose(&mut policy, choice.trim()) {
            return Err(Failure::usage(format!("--policy: '{choice}' is unknown; {POLICIES}")));
        }
    }
    Ok(policy)
}

/// Whether the choice is one.
fn choose(policy: &mut Policy, choice: &str) -> bool {
    match choice {
        "calls=answer" => policy.unanswered_calls = OnUnansweredCall::Answer,
        "calls=drop" => policy.unanswered_calls = OnUnansweredCall::Drop,
        "calls=reject" => policy.unanswered_calls = OnUnansweredCall::Reject,
        "reasoning=drop" => policy.lone_reasoning = OnLoneReasoning::Drop,
        "reasoning=reject" => policy.lone_reasoning = OnLoneReasoning::Reject,
        "outputs=drop" => policy.outputs_without_call = OnOutputWithoutCall::Drop,
        "outputs=keep" => policy.outputs_without_call = OnOutputWithoutCall::Keep,
        "outputs=reject" => policy.outputs_without_call = OnOutputWithoutCall::Reject,
        "references=keep" => policy.unresolved_references = OnUnresolvedReference::Keep,
        "references=drop" => policy.unresolved_references = OnUnresolvedReference::Drop,
        "references=reject" => policy.unresolved_references = OnUnresolvedReference::Reject,
        _ => return false,
    }
    true
}
