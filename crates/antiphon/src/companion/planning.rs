//! Selects the input items to send to a server that has the conversation before them.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;

use super::admission::{Admission, Known, LocalIds};
use super::history::History;
use super::report::Report;
use super::stuck::BlockingItems;
use crate::faults::OmissionReason;
use crate::item::{FingerprintKey, Item, ItemId, Kind};
use crate::placeholder::is_placeholder_item;
use crate::reconcile::{Verdict, reconcile};
use crate::repair::{
    Action, Held, OnOutputWithoutCall, Policy, Repaired, made_with, repair_after, repair_held,
    repair_with,
};
use crate::transcript::{HeldItem, Origin, Transcript};

/// The items to send, and the items that the server will then have.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) sent: Vec<Item>,
    /// The sent items in their stored form.
    pub(super) fresh: Vec<HeldItem>,
    /// The stored items to delete before.
    pub(super) stuck: BlockingItems,
    /// Whether the server will have items after this turn that are unknown here.
    pub(super) leaves_doubt: bool,
    /// Whether an earlier attempt of the same request stored its input.
    pub(super) is_again: bool,
    pub(super) report: Report,
}

/// Plans the requests for one input.
pub(super) struct Planner<'a> {
    pub(super) input: &'a [Item],
    pub(super) known: Known<'a>,
    pub(super) key: FingerprintKey,
    pub(super) ids: &'a mut LocalIds,
}

impl Plan {
    /// Whether no item is left to send, although the server does not have all items of the input.
    pub(super) fn is_emptied(&self, input: &[Item]) -> bool {
        self.sent.is_empty() && self.report.resent < input.len()
    }
}

impl Planner<'_> {
    /// The plan after the known items of a server: the items that it does not have, and outputs for
    /// its calls without one.
    pub(super) fn behind(mut self, history: &History) -> Plan {
        let (input, known, key) = (self.input, self.known, self.key);
        let held = history.transcript();
        let mut admission = Admission::of(held, input, known, (key, self.ids));
        let outlines = Outlines::of(&admission);
        let stuck = BlockingItems::in_the_way_of(&admission, &outlines.held_at, &outlines.items);
        let repaired = repair_after(outlines.held_at.len(), &outlines.items, &outlines.policy());
        for mend in &repaired.repairs {
            let source = outlines.source(mend.position, &admission);
            admission.report.mended(source, &outlines.items[mend.position], mend);
        }
        let stays = outlines.staying(&repaired, &admission);
        let fresh = self.as_held(&repaired.items, stays.into_iter().peekable());
        let (leaves_doubt, report) = (admission.names_unknown, admission.report);
        let is_again = known.is_brought;
        Plan { sent: repaired.items, fresh, stuck, leaves_doubt, is_again, report }
    }

    /// The plan of a delivery: outputs for the server's calls without one. Late outputs become
    /// messages, as in a turn.
    pub(super) fn delivered(self, history: &History) -> Plan {
        let (input, known, key) = (self.input, self.known, self.key);
        let held = history.transcript();
        let mut admission = Admission::of(held, input, known, (key, self.ids));
        let mut report = std::mem::take(&mut admission.report);
        let stuck = BlockingItems::of_late(&admission);
        let (mut sent, mut fresh) = (Vec::new(), Vec::new());
        let new = admission.transcript.items()[admission.held..].iter();
        for (held, position) in new.zip(&admission.sources) {
            match held.item().filter(|item| admission.has_call(item)) {
                Some(item) => {
                    sent.push(item);
                    fresh.push(held.clone());
                }
                None => report.left_out(*position, &input[*position], OmissionReason::CallUnknown),
            }
        }
        let (leaves_doubt, is_again) = (admission.names_unknown, known.is_brought);
        Plan { sent, fresh, stuck, leaves_doubt, is_again, report }
    }

    /// The plan for a request that continues nothing.
    pub(super) fn whole(mut self) -> Plan {
        let mut report = Report::default();
        let input: Vec<(usize, &Item)> = self.not_refused(&mut report);
        let items: Vec<Item> = input.iter().map(|(_, item)| (*item).clone()).collect();
        let refers = items.iter().any(|item| item.head().kind == Kind::ItemReference);
        let outputs_without_call =
            if refers { OnOutputWithoutCall::Keep } else { OnOutputWithoutCall::Drop };
        let made_with = self.known.objections.made_with.clone();
        let policy = Policy { outputs_without_call, made_with, ..Policy::default() };
        let repaired = repair_with(&items, &policy).expect("the policy rejects nothing");
        for mend in &repaired.repairs {
            report.mended(Some(input[mend.position].0), &items[mend.position], mend);
        }
        // A client that resends model items will do so again, so only the start of a chain is
        // stored.
        let is_beginning = !refers && !items.iter().any(|item| item.head().is_model_made());
        let fresh = match is_beginning {
            true => repaired.items.iter().map(|item| self.held(item)).collect(),
            false => Vec::new(),
        };
        let (stuck, sent) = (BlockingItems::default(), repaired.items);
        Plan { sent, fresh, stuck, leaves_doubt: !is_beginning, is_again: false, report }
    }

    /// The plan for a server that does not list its items. It leaves out the items of earlier
    /// turns, and of the others those that the server creates itself.
    pub(super) fn by_kind(mut self, heard: &History) -> Plan {
        let mut report = Report::default();
        let mut input: Vec<(usize, &Item)> = self.not_refused(&mut report);
        let items: Vec<Item> = input.iter().map(|(_, item)| (*item).clone()).collect();
        let mut verdicts = reconcile(&heard.transcript(), &items, self.key).into_iter();
        input.retain(|_| verdicts.next().is_some_and(Verdict::is_fresh));
        report.resent += items.len() - input.len();
        let items: Vec<Item> = input.iter().map(|(_, item)| (*item).clone()).collect();
        let continued = repair_held(Held::Unknown, &items, &Policy::default());
        let continued = continued.expect("the policy rejects nothing, and no call is held");
        report.found_by_kind(&input, &continued.findings);
        let (stuck, sent) = (BlockingItems::default(), continued.items);
        let fresh = sent.iter().map(|item| self.held(item)).collect();
        Plan { sent, fresh, stuck, leaves_doubt: false, is_again: false, report }
    }

    /// The input items that the server did not reject, with their positions.
    fn not_refused(&self, report: &mut Report) -> Vec<(usize, &Item)> {
        let (refused, rest): (Vec<_>, Vec<_>) =
            self.input.iter().enumerate().partition(|(_, item)| {
                self.known.objections.reason_for(item.head().id.as_ref()).is_some()
            });
        for (position, item) in refused {
            let why = self.known.objections.reason_for(item.head().id.as_ref());
            report.left_out(position, item, why.expect("it was refused"));
        }
        rest
    }

    /// The stored form of the sent items. `stays` has the input items that are sent, in order;
    /// placeholder outputs of the input are among them.
    fn as_held<'h>(
        &mut self,
        sent: &[Item],
        mut stays: Peekable<impl Iterator<Item = &'h HeldItem>>,
    ) -> Vec<HeldItem> {
        let mut as_held = |item: &Item| {
            let as_it_came = |held: &&HeldItem| held.is_byte_for_byte(item);
            let stays = match is_placeholder_item(item) {
                true => stays.next_if(as_it_came),
                false => stays.next(),
            };
            match stays {
                Some(held) => HeldItem { head: item.head().clone(), ..held.clone() },
                None => self.held(item),
            }
        };
        sent.iter().map(&mut as_held).collect()
    }

    /// The stored form of an item without further information.
    fn held(&mut self, item: &Item) -> HeldItem {
        let id = item.head().id.clone().unwrap_or_else(|| self.ids.issue());
        HeldItem::new(id, item, self.key, is_placeholder_item(item).then(Origin::placeholder))
            .without_body()
    }
}

/// The outlines of a server's items, followed by the new input.
struct Outlines {
    items: Vec<Item>,
    /// The position in the transcript of each item of the server.
    held_at: Vec<usize>,
    made_with: HashMap<ItemId, ItemId>,
}

impl Outlines {
    fn of(admission: &Admission<'_>) -> Self {
        let transcript = &admission.transcript;
        let mut held_at = transcript.view();
        held_at.retain(|at| *at < admission.held);
        held_at.sort_unstable();
        let fresh = admission.held..transcript.items().len();
        let outline =
            |at: usize| transcript.items()[at].outline().expect("a view is of the living");
        let items = held_at.iter().copied().chain(fresh).map(outline).collect();
        Self { items, held_at, made_with: known_reasoning(transcript, &admission.made_with) }
    }

    /// Outputs without a call stay: the server has an error for them.
    fn policy(&self) -> Policy {
        let outputs_without_call = OnOutputWithoutCall::Keep;
        Policy { outputs_without_call, made_with: self.made_with.clone(), ..Policy::default() }
    }

    /// The position of an item in the input; `None` for an item of the server.
    fn source(&self, position: usize, admission: &Admission<'_>) -> Option<usize> {
        let fresh = position.checked_sub(self.held_at.len())?;
        admission.sources.get(fresh).copied()
    }

    /// The new items that are sent, repaired or not.
    fn staying<'a>(&self, repaired: &Repaired, admission: &'a Admission<'_>) -> Vec<&'a HeldItem> {
        let left_out = repaired.repairs.iter();
        let left_out =
            left_out.filter(|mend| matches!(mend.action, Action::Dropped | Action::Replaced));
        let left_out: HashSet<usize> = left_out.map(|mend| mend.position).collect();
        let fresh = admission.transcript.items()[admission.held..].iter().enumerate();
        let stays = fresh.filter(|(nth, _)| !left_out.contains(&(self.held_at.len() + nth)));
        stays.map(|(_, held)| held).collect()
    }
}

/// For each item the reasoning that the model produced it with. The order of the server's items
/// decides for those; `of_input` has it for the others.
fn known_reasoning(
    transcript: &Transcript,
    of_input: &HashMap<ItemId, ItemId>,
) -> HashMap<ItemId, ItemId> {
    let mut known = of_input.clone();
    known.extend(made_with(transcript.items().iter().map(|item| (&item.head, Some(&item.id)))));
    known
}
