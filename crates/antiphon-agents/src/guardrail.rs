//! Guardrails: checks of the input and of the last answer of a run.

use antiphon::Item;
use async_trait::async_trait;

/// The verdict of a guardrail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The run continues.
    Pass,
    /// The run ends.
    Trip,
}

/// A check of the input of a run, before the first request.
#[async_trait]
pub trait InputGuardrail<C>: Send + Sync + 'static {
    /// The name, for the end of the run.
    fn name(&self) -> &str;

    /// Checks the input.
    async fn check(&self, context: &C, input: &[Item]) -> Verdict;
}

/// A check of the last answer, before it is stored.
///
/// A server's conversation stores the answer at once: a rejected one is deleted there. A chain
/// continues from the response before it.
#[async_trait]
pub trait OutputGuardrail<C>: Send + Sync + 'static {
    /// The name, for the end of the run.
    fn name(&self) -> &str;

    /// Checks the items of the answer.
    async fn check(&self, context: &C, answer: &[Item]) -> Verdict;
}
