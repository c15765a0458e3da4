//! Parses a repair policy.

use antiphon::repair::{
    OnAnswer, OnLoneReasoning, OnMissingId, OnOutputWithoutCall, OnUnansweredCall,
    OnUnresolvedReference, Policy,
};

/// The choices of a policy. Several may be combined.
pub const CHOICES: &str = "calls=answer|drop|reject, reasoning=drop|reject, \
                           outputs=drop|keep|reject, references=keep|drop|reject, \
                           answers=keep|drop, ids=add|drop|reject";

/// An unknown word in a policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "policy: '{word}' is unknown; use repair, drop, reject, or a comma-separated list of \
     {CHOICES}"
)]
pub struct UnknownPolicy {
    /// The word as given.
    pub word: String,
}

/// Parses a policy: `repair` (or nothing), `drop` or `reject`, and the choices that differ from it,
/// separated by commas. Without one of these words the choices differ from `repair`.
pub fn policy(words: &str) -> Result<Policy, UnknownPolicy> {
    if words.is_empty() {
        return Ok(Policy::default());
    }
    let (first, rest) = words.split_once(',').unwrap_or((words, ""));
    match named_policy(first.trim()) {
        Some(policy) if rest.is_empty() => Ok(policy),
        Some(policy) => parse_choices(rest, policy),
        None => parse_choices(words, Policy::default()),
    }
}

/// The policy with a name of its own.
fn named_policy(name: &str) -> Option<Policy> {
    Some(match name {
        "repair" => Policy::default(),
        "drop" => Policy { unanswered_calls: OnUnansweredCall::Drop, ..Policy::default() },
        "reject" => Policy {
            unanswered_calls: OnUnansweredCall::Reject,
            lone_reasoning: OnLoneReasoning::Reject,
            outputs_without_call: OnOutputWithoutCall::Reject,
            missing_ids: OnMissingId::Reject,
            ..Policy::default()
        },
        _ => return None,
    })
}

fn parse_choices(choices: &str, mut policy: Policy) -> Result<Policy, UnknownPolicy> {
    for choice in choices.split(',') {
        if !choose(&mut policy, choice.trim()) {
            return Err(UnknownPolicy { word: choice.to_owned() });
        }
    }
    Ok(policy)
}

/// Applies a choice; false if it is unknown.
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
        "answers=keep" => policy.answers = OnAnswer::Keep,
        "answers=drop" => policy.answers = OnAnswer::Drop,
        "ids=add" => policy.missing_ids = OnMissingId::Add,
        "ids=drop" => policy.missing_ids = OnMissingId::Drop,
        "ids=reject" => policy.missing_ids = OnMissingId::Reject,
        "references=keep" => policy.unresolved_references = OnUnresolvedReference::Keep,
        "references=drop" => policy.unresolved_references = OnUnresolvedReference::Drop,
        "references=reject" => policy.unresolved_references = OnUnresolvedReference::Reject,
        _ => return false,
    }
    true
}
