//! What is sent in the place of what was planned.

use super::plan::{Plan, Prompt};
use super::report::Report;

/// Another prompt than the plan's, and the report that says what is different.
pub(super) struct Instead {
    pub(super) prompt: Prompt,
    pub(super) report: Report,
}

impl Instead {
    /// The same, told of together with what was to be sent before it.
    pub(super) fn behind(mut self, earlier: Option<Self>) -> Self {
        if let Some(Self { mut report, .. }) = earlier {
            report.add_new(self.report);
            self.report = report;
        }
        self
    }

    /// From here on it is what was planned.
    pub(super) fn takes_the_place_in(self, plan: &mut Plan) {
        plan.prompt = self.prompt;
        plan.report.add_new(self.report);
    }
}
