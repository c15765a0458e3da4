//! A fallback prompt, sent in place of the planned one.

use super::plan::{Plan, Prompt};
use super::report::Report;

/// A prompt that differs from the plan's, and the report of the differences.
pub(super) struct FallbackPrompt {
    pub(super) prompt: Prompt,
    pub(super) report: Report,
}

impl FallbackPrompt {
    /// Adds the report of an earlier fallback, which this one replaces.
    pub(super) fn behind(mut self, earlier: Option<Self>) -> Self {
        if let Some(Self { mut report, .. }) = earlier {
            report.add_new(self.report);
            self.report = report;
        }
        self
    }

    /// Makes this prompt the planned one.
    pub(super) fn takes_the_place_in(self, plan: &mut Plan) {
        plan.prompt = self.prompt;
        plan.report.add_new(self.report);
    }
}
