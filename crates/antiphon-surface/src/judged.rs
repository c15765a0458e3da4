//! What was found out about an item that came.

use antiphon::reconcile::{Resent, Verdict};
use serde::Serialize;

/// Whether the owner of the state has an item. Only what the verdict says is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// `fresh`, `fresh_under_used_id`, `supersedes`, `late_output`, `resent`, `deleted` or
    /// `duplicate`.
    pub verdict: &'static str,
    /// Where it is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<usize>,
    /// By which rule it is known: `same_id`, `same_call`, `same_instructions` or `replayed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// Whether it says something else than what is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differs: Option<bool>,
    /// Where the made-up output is held that it takes the place of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_up: Option<usize>,
    /// The position in the input of what it repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

impl Judged {
    pub(crate) fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Fresh => Self::named("fresh"),
            Verdict::FreshUnderUsedId => Self::named("fresh_under_used_id"),
            Verdict::Supersedes => Self::named("supersedes"),
            Verdict::LateOutput { made_up } => {
                Self { made_up: Some(made_up), ..Self::named("late_output") }
            }
            Verdict::Resent(Resent { held, rule, differs }) => Self {
                held: Some(held),
                rule: Some(rule.name()),
                differs: Some(differs),
                ..Self::named("resent")
            },
            Verdict::Deleted => Self::named("deleted"),
            Verdict::Duplicate(of) => Self { of: Some(of), ..Self::named("duplicate") },
        }
    }

    fn named(verdict: &'static str) -> Self {
        Self { verdict, ..Self::default() }
    }
}
