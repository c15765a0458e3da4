//! The verdict about an incoming item.

use antiphon::reconcile::{Resent, Verdict};
use serde::Serialize;

/// Whether the owner of the state stores an item. Fields that the verdict does not use are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ItemVerdict {
    /// `fresh`, `fresh_under_used_id`, `supersedes`, `late_output`, `resent`, `deleted` or
    /// `duplicate`.
    pub verdict: &'static str,
    /// The position of the stored item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<usize>,
    /// The rule that matched: `same_id`, `same_call`, `same_instructions` or `replayed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// Whether its content differs from the stored item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differs: Option<bool>,
    /// The position of the stored placeholder output that the item replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_up: Option<usize>,
    /// The position of the incoming item that it duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

impl ItemVerdict {
    pub(crate) fn from_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Fresh => Self::with_verdict("fresh"),
            Verdict::FreshUnderUsedId => Self::with_verdict("fresh_under_used_id"),
            Verdict::Replaces => Self::with_verdict("supersedes"),
            Verdict::LateOutput { placeholder } => {
                Self { made_up: Some(placeholder), ..Self::with_verdict("late_output") }
            }
            Verdict::Resent(Resent { held, rule, differs }) => Self {
                held: Some(held),
                rule: Some(rule.name()),
                differs: Some(differs),
                ..Self::with_verdict("resent")
            },
            Verdict::Deleted => Self::with_verdict("deleted"),
            Verdict::Duplicate(of) => Self { of: Some(of), ..Self::with_verdict("duplicate") },
        }
    }

    fn with_verdict(verdict: &'static str) -> Self {
        Self { verdict, ..Self::default() }
    }
}
