//! Builds the view: the items that the model receives.

use std::collections::HashMap;
use std::ops::Range;

use antiphon::dialect::{Seal, UpstreamApi};
use antiphon::faults::Fault;
use antiphon::repair::{Policy, is_well_formed, repair_with};
use antiphon::{Item, ItemId, Kind, Origin, Transcript};

use super::report::PromptChanges;
use super::start::Start;
use crate::error::ApiError;
use crate::request::is_bare_reasoning;
use antiphon::faults::OmissionReason;

/// The items for the model, before and during repair.
pub(super) struct View {
    entries: Vec<Entry>,
    changes: PromptChanges,
}

struct Entry {
    item: Item,
    origin: Option<Origin>,
    /// The position in the input; `None` for a stored item.
    source: Option<usize>,
}

impl View {
    /// Collects the items of `transcript` after its start. `asked_again` holds the positions of
    /// stored items that the model is asked again, `fresh` the range of the new input. `source`
    /// maps positions in the transcript to positions in the input.
    pub(super) fn new(
        transcript: &Transcript,
        starts: Option<&Start>,
        (asked_again, fresh): (&[usize], Range<usize>),
        source: impl Fn(usize) -> Option<usize>,
        changes: PromptChanges,
    ) -> Self {
        let start = starts.map(|start| start.at);
        let mut positions = transcript.view_after_compaction(start);
        if let Some(start) = starts.filter(|start| start.is_new) {
            move_before_last_messages(transcript, start.at, &mut positions);
        }
        move_to_end(&mut positions, asked_again, &fresh);
        let entry = |at: usize| {
            let held = &transcript.items()[at];
            let as_held = || held.item().expect("a view has only live items");
            let compaction = starts.filter(|start| start.at == at);
            Entry {
                item: compaction.map_or_else(as_held, |start| start.item.clone()),
                origin: held.origin.clone(),
                source: source(at),
            }
        };
        Self { entries: positions.into_iter().map(entry).collect(), changes }
    }

    /// Removes compaction triggers, which only upstreams with their own compaction understand.
    pub(super) fn remove_triggers(&mut self) {
        self.entries.retain(|entry| entry.item.head().kind != Kind::CompactionTrigger);
    }

    /// Removes encrypted reasoning of another origin or another API, and all bare reasoning.
    pub(super) fn remove_unusable_reasoning(
        &mut self,
        origin: &Origin,
        api: UpstreamApi,
        strict: bool,
    ) -> Result<(), ApiError> {
        if !self.entries.iter().any(|entry| entry.item.head().kind == Kind::Reasoning) {
            return Ok(());
        }
        for entry in std::mem::take(&mut self.entries) {
            let Some(reason) = unusable_reason(&entry.item, entry.origin.as_ref(), origin, api)
            else {
                self.entries.push(entry);
                continue;
            };
            if let Some(position) = entry.source.filter(|_| strict) {
                return Err(Fault::foreign_content(&entry.item).refusal(position).into());
            }
            self.changes.left_out_of_view(entry.source, &entry.item, reason);
        }
        Ok(())
    }

    /// Repairs the items so that a provider accepts them. `made_with` maps items to the reasoning
    /// items that they need.
    pub(super) fn repair(
        self,
        strict: bool,
        made_with: HashMap<ItemId, ItemId>,
    ) -> Result<(Vec<Item>, PromptChanges), ApiError> {
        let Self { entries, mut changes } = self;
        let policy = Policy { made_with, ..Policy::default() };
        // Not unzipped, because that reserves room for four items.
        let sources: Vec<Option<usize>> = entries.iter().map(|entry| entry.source).collect();
        let items: Vec<Item> = entries.into_iter().map(|entry| entry.item).collect();
        if is_well_formed(&items, &policy) {
            return Ok((items, changes));
        }
        let repaired = repair_with(&items, &policy).expect("this policy rejects nothing");
        if let Some(mend) = repaired.repairs.first().filter(|_| strict) {
            let position = sources[mend.position].unwrap_or(mend.position);
            return Err(mend.fault.refusal(position).into());
        }
        for mend in &repaired.repairs {
            changes.add_repair(sources[mend.position], &items[mend.position], mend);
        }
        Ok((repaired.items, changes))
    }
}

/// Moves a new compaction at the end of the view before the caller's last messages. The model
/// should answer those messages; they precede the compaction only because the same turn created it.
fn move_before_last_messages(transcript: &Transcript, compaction: usize, view: &mut [usize]) {
    let is_message = |at: &usize| {
        let head = &transcript.items()[*at].head;
        head.kind == Kind::Message && !head.is_model_made()
    };
    let first_message = (0..compaction).rev().take_while(is_message).last().unwrap_or(compaction);
    let after = view.iter().rev().take_while(|position| **position >= first_message).count();
    let place = view.len() - after;
    view[place..].rotate_right(1);
}

/// Moves stored items to the end of a view, in their order. Only the new input stays after them.
fn move_to_end(view: &mut Vec<usize>, moved: &[usize], fresh: &Range<usize>) {
    if moved.is_empty() {
        return;
    }
    let (last, mut others): (Vec<usize>, Vec<usize>) =
        view.iter().partition(|position| moved.contains(position));
    let end = others.iter().position(|at| fresh.contains(at)).unwrap_or(others.len());
    others.splice(end..end, last);
    *view = others;
}

/// Why a reasoning item cannot be sent to `target`; `None` if it can.
fn unusable_reason(
    item: &Item,
    made_by: Option<&Origin>,
    target: &Origin,
    api: UpstreamApi,
) -> Option<OmissionReason> {
    let head = item.head();
    let is_made_elsewhere = || made_by.is_some_and(|origin| origin != target);
    let is_in_another_dialect = || api == UpstreamApi::Responses && Seal::from_item(item).is_some();
    let is_foreign = head.kind == Kind::Reasoning
        && head.encrypted
        && (is_made_elsewhere() || is_in_another_dialect());
    if is_foreign {
        return Some(OmissionReason::ForeignReasoning);
    }
    is_bare_reasoning(item).then_some(OmissionReason::BareReasoning)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(view: &[usize], moved: &[usize], fresh: Range<usize>) -> Vec<usize> {
        let mut view = view.to_vec();
        move_to_end(&mut view, moved, &fresh);
        view
    }

    #[test]
    fn prior_input_moves_after_later_turns() {
        assert_eq!(moved(&[0, 1, 2, 3, 4], &[1, 2], 5..5), [0, 3, 4, 1, 2]);
        assert_eq!(moved(&[0, 1], &[], 2..2), [0, 1]);
    }

    #[test]
    fn prior_input_moves_before_fresh_input() {
        assert_eq!(moved(&[0, 1, 5], &[1], 5..5), [0, 5, 1]);
        assert_eq!(moved(&[0, 1, 6, 5], &[0], 5..6), [1, 6, 0, 5]);
    }
}
