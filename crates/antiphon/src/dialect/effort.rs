//! The effort of reasoning for a budget of tokens.

/// The smallest budgets of the efforts `medium` and `high`, in the middle between the budgets that
/// the encoder for Anthropic sends for the two efforts next to each other.
const MEDIUM_FROM: u64 = 4_096;
const HIGH_FROM: u64 = 12_288;

/// The effort nearest to the budget.
pub(super) fn effort_of_budget(budget: u64) -> &'static str {
    match budget {
        ..MEDIUM_FROM => "low",
        MEDIUM_FROM..HIGH_FROM => "medium",
        _ => "high",
    }
}
