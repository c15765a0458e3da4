//! What the model is given.

use std::collections::HashMap;

use antiphon::faults::Fault;
use antiphon::repair::{Mend, Policy, repair_with};
use antiphon::{Item, ItemId, Kind, Origin, Transcript};

use super::report::{LeftOut, Report};
use crate::error::ApiError;

/// The items that a model is to be given, while they are being sorted out.
pub(super) struct View {
    items: Vec<Item>,
    origins: Vec<Option<Origin>>,
    /// For each item its position in the input; `None` for what was held before.
    sources: Vec<Option<usize>>,
    report: Report,
}

impl View {
    pub(super) fn of(
        transcript: &Transcript,
        sources: &[usize],
        held: usize,
        report: Report,
    ) -> Self {
        let positions = transcript.view();
        let item = |at: &usize| transcript.items()[*at].item().expect("a view has live items only");
        Self {
            items: positions.iter().map(item).collect(),
            origins: positions.iter().map(|at| transcript.items()[*at].origin.clone()).collect(),
            sources: positions
                .iter()
                .map(|at| at.checked_sub(held).map(|fresh| sources[fresh]))
                .collect(),
            report,
        }
    }

    /// Encrypted reasoning goes back only to where it was made, bare reasoning nowhere.
    pub(super) fn leave_unusable_reasoning(
        &mut self,
        origin: &Origin,
        strict: bool,
    ) -> Result<(), ApiError> {
        let mut kept = vec![true; self.items.len()];
        for (at, item) in self.items.iter().enumerate() {
            let Some(reason) = unusable(item, self.origins[at].as_ref(), origin) else {
                continue;
            };
            let source = self.sources[at];
            if let Some(position) = source.filter(|_| strict) {
                return Err(Fault::foreign_content(item).refusal(position).into());
            }
            self.report.left_out_of_view(source, item, reason);
            kept[at] = false;
        }
        let mut keep = kept.iter();
        self.items.retain(|_| keep.next().copied().unwrap_or(true));
        let mut keep = kept.iter();
        self.sources.retain(|_| keep.next().copied().unwrap_or(true));
        Ok(())
    }

    /// The items that a provider accepts. `made_with`: which reasoning items need before them.
    pub(super) fn mended(
        mut self,
        strict: bool,
        made_with: HashMap<ItemId, ItemId>,
    ) -> Result<(Vec<Item>, Report), ApiError> {
        let policy = Policy { made_with, ..Policy::default() };
        let repaired = repair_with(&self.items, &policy).expect("this policy rejects nothing");
        if let Some(mend) = repaired.mends.first().filter(|_| strict) {
            let position = self.sources[mend.position].unwrap_or(mend.position);
            return Err(mend.fault.refusal(position).into());
        }
        for mend in &repaired.mends {
            let Mend { position, .. } = mend;
            self.report.mended(self.sources[*position], &self.items[*position], mend);
        }
        Ok((repaired.items, self.report))
    }
}

/// Why a reasoning item cannot be sent to `target`.
fn unusable(item: &Item, made_by: Option<&Origin>, target: &Origin) -> Option<LeftOut> {
    let head = item.head();
    let is_foreign = head.kind == Kind::Reasoning
        && head.encrypted
        && made_by.is_some_and(|origin| origin != target);
    if is_foreign {
        return Some(LeftOut::ForeignReasoning);
    }
    is_bare_reasoning(item).then_some(LeftOut::BareReasoning)
}

/// Whether it is reasoning that is neither encrypted nor spelled out. A server that keeps no state
/// can make nothing of its id.
pub(super) fn is_bare_reasoning(item: &Item) -> bool {
    let head = item.head();
    let has_content = || item.object().present("content").is_some_and(|content| content != "[]");
    head.kind == Kind::Reasoning && !head.encrypted && !has_content()
}
