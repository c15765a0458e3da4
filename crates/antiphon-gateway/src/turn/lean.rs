//! What the model is given where its server cannot read the reasoning that it made.
//!
//! Encrypted reasoning is bound to keys and to an account that may have changed since. The provider
//! then refuses the whole request, and would refuse every later turn of the conversation.

use antiphon::repair::{Policy, made_with, repair_with};
use antiphon::{Item, Kind, Origin};

use super::Turn;
use super::encode::Sources;
use super::instead::Instead;
use super::plan::Prompt;
use super::report::Report;
use crate::upstream::Upstream;
use antiphon::faults::LeftOut;

impl Turn<'_> {
    /// The prompt without encrypted reasoning. What was made with it goes without its id, under which
    /// a provider would miss the reasoning. `None` where there is none to leave out.
    pub(super) fn without_reasoning(
        &self,
        prompt: &Prompt,
        origin: &Origin,
        upstream: Upstream<'_>,
    ) -> Option<Instead> {
        let view = &prompt.view;
        let (refused, kept): (Vec<Item>, Vec<Item>) =
            view.iter().cloned().partition(is_encrypted_reasoning);
        if refused.is_empty() || kept.is_empty() {
            return None;
        }
        let sources = Sources::of(&self.request.input);
        let mut report = Report::new(0);
        for item in &refused {
            report.left_out_of_view(sources.position(item), item, LeftOut::RefusedReasoning);
        }
        let heads = view.iter().map(|item| (item.head(), item.head().id.as_ref()));
        let policy = Policy { made_with: made_with(heads), ..Policy::default() };
        let repaired = repair_with(&kept, &policy).expect("this policy rejects nothing");
        for mend in &repaired.mends {
            let item = &kept[mend.position];
            report.mended(sources.position(item), item, mend);
        }
        let prompt = self.prompt(repaired.items, upstream, origin, &mut report).ok()?;
        Some(Instead { prompt, report })
    }
}

fn is_encrypted_reasoning(item: &Item) -> bool {
    item.head().kind == Kind::Reasoning && item.head().encrypted
}
