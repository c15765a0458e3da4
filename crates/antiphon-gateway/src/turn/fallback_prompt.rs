//! Prompts that replace the planned one after the upstream rejected it.

use antiphon::faults::OmissionReason;
use antiphon::repair::{Policy, made_with, repair_with};
use antiphon::{Item, Kind, Origin};

use super::encode::Sources;
use super::plan::{Plan, Planner, Prompt};
use super::report::PromptChanges;

/// A prompt that replaces the planned one, and the differences.
pub(super) struct FallbackPrompt {
    pub(super) prompt: Prompt,
    pub(super) changes: PromptChanges,
}

impl FallbackPrompt {
    /// Adds the changes of an earlier fallback, which this one replaces.
    pub(super) fn after(mut self, earlier: Option<Self>) -> Self {
        if let Some(Self { mut changes, .. }) = earlier {
            changes.add_new(self.changes);
            self.changes = changes;
        }
        self
    }

    /// Makes this prompt the planned one.
    pub(super) fn replace_in(self, plan: &mut Plan) {
        plan.prompt = self.prompt;
        plan.report.changes.add_new(self.changes);
    }
}

impl Planner<'_> {
    /// The prompt without encrypted reasoning; `None` if it has none.
    ///
    /// Encrypted reasoning depends on keys and on an account, and both may change. The provider
    /// then rejects this turn and every later one. Items that need the reasoning lose their ids,
    /// because the provider would otherwise report the reasoning as missing.
    pub(super) fn without_reasoning(
        &self,
        prompt: &Prompt,
        origin: &Origin,
    ) -> Option<FallbackPrompt> {
        let view = &prompt.view;
        let (refused, kept): (Vec<Item>, Vec<Item>) =
            view.iter().cloned().partition(is_encrypted_reasoning);
        if refused.is_empty() || kept.is_empty() {
            return None;
        }
        let sources = Sources::new(&self.turn.request.input);
        let mut changes = PromptChanges::default();
        for item in &refused {
            let reason = OmissionReason::RefusedReasoning;
            changes.left_out_of_view(sources.position(item), item, reason);
        }
        let heads = view.iter().map(|item| (item.head(), item.head().id.as_ref()));
        let policy = Policy { made_with: made_with(heads), ..Policy::default() };
        let repaired = repair_with(&kept, &policy).expect("this policy rejects nothing");
        for mend in &repaired.repairs {
            let item = &kept[mend.position];
            changes.add_repair(sources.position(item), item, mend);
        }
        let prompt = self.encode(repaired.items, origin, &mut changes).ok()?;
        Some(FallbackPrompt { prompt, changes })
    }
}

fn is_encrypted_reasoning(item: &Item) -> bool {
    item.head().kind == Kind::Reasoning && item.head().encrypted
}
