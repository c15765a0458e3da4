//! Repairs a turn for a server that has the items before it.

use std::collections::{HashMap, HashSet};

use super::BlockingItems;
use crate::faults::Refusal;
use crate::item::{Item, ItemId, Kind};
use crate::placeholder::is_placeholder_item;
use crate::provider_api::RefusedItems;
use crate::reconcile::{Admission, AdmissionRules};
use crate::repair::{
    Action, OnOutputWithoutCall, Policy, Repair, Repaired, ReportedRepair, blocking_items,
    made_with, repair_after,
};
use crate::transcript::{Body, HeldItem, Transcript};

/// The items of a server and the new items of an input after them, before their repair.
#[derive(Debug)]
pub(super) struct Draft {
    /// The server's items and the new items of the input.
    pub(super) admission: Admission,
    /// Outlines of the items, as repairs read them.
    items: Vec<Item>,
    /// The position in the transcript of each item.
    places: Vec<usize>,
    /// The number of items at the start that the server has.
    at_server: usize,
    /// For each item the reasoning that the model produced it with.
    reasoning: HashMap<ItemId, ItemId>,
}

/// The items to send to a server.
#[derive(Debug)]
pub(super) struct RepairedDraft {
    /// The items.
    pub(super) sent: Vec<Item>,
    /// Those of them that are not stored yet, in their stored form.
    pub(super) fresh: Vec<HeldItem>,
    /// The repairs.
    pub(super) repairs: Vec<ReportedRepair>,
}

impl Draft {
    /// Adds the new items of `input` to the items of a server, without those that it refused.
    ///
    /// # Errors
    /// The provider's error for the first item that the rules reject.
    pub(super) fn new(
        stored: Transcript,
        input: &[Item],
        refused: &RefusedItems,
        mut rules: AdmissionRules,
        issue_id: &mut dyn FnMut(&Kind) -> ItemId,
    ) -> Result<Self, Refusal> {
        rules.omitted = refused.omissions(input);
        let admission = Admission::new(stored, input, &rules, issue_id)?;
        let (transcript, held) = (&admission.transcript, admission.held);
        let mut places = transcript.view();
        places.retain(|at| *at < held);
        places.sort_unstable();
        let at_server = places.len();
        places.extend(held..transcript.items().len());
        let outline =
            |at: &usize| transcript.items()[*at].outline().expect("a view has no deleted items");
        let items = places.iter().map(outline).collect();
        // The order of the server's items decides for those, the order of the input for the others.
        let mut reasoning = made_with(input.iter().map(|it| (it.head(), it.head().id.as_ref())));
        reasoning.extend(refused.made_with.clone());
        reasoning.extend(made_with(transcript.items().iter().map(|it| (&it.head, Some(&it.id)))));
        Ok(Self { admission, items, places, at_server, reasoning })
    }

    /// The draft for a server that has lost its items after the first `kept` of the transcript, so
    /// that they are sent again. Also returns the items that cannot be sent: the server has deleted
    /// the content of reasoning that is not encrypted. Items that need it are sent without their
    /// ids.
    #[must_use]
    pub(super) fn into_replay(self, kept: usize) -> (Self, Vec<Item>) {
        let Self { items, places, .. } = self;
        let stored = self.admission.held;
        let is_lost = |(at, item): &(usize, Item)| {
            (kept..stored).contains(at)
                && item.head().kind == Kind::Reasoning
                && !item.head().encrypted
        };
        let (lost, rest): (Vec<_>, Vec<_>) = places.into_iter().zip(items).partition(is_lost);
        let lost = lost.into_iter().map(|(_, item)| item).collect();
        let at_server = rest.iter().filter(|(at, _)| *at < kept).count();
        let (places, items) = rest.into_iter().unzip();
        (Self { items, places, at_server, ..self }, lost)
    }

    /// The number of stored items that are sent again.
    pub(super) fn replayed_items(&self) -> usize {
        self.places[self.at_server..].iter().filter(|at| **at < self.admission.held).count()
    }

    /// Whether the transcript has the calls of all outputs in the new input.
    pub(super) fn new_outputs_have_calls(&self) -> bool {
        let mut new =
            self.places.iter().zip(&self.items).filter(|(at, _)| **at >= self.admission.held);
        new.all(|(_, item)| self.admission.has_call(item))
    }

    /// The items that block every turn until they are deleted.
    pub(super) fn blocking(&self) -> BlockingItems {
        let stored = |at: usize| self.admission.transcript.items()[at].clone();
        let unrepairable = blocking_items(self.at_server, &self.items).into_iter();
        let unrepairable =
            unrepairable.map(|found| (stored(self.places[found.position]), found.fault.name()));
        BlockingItems::new(unrepairable.collect(), &self.admission)
    }

    /// Checks the items that the server does not have.
    ///
    /// # Errors
    /// The provider's error for the first item that needs a repair.
    pub(super) fn check(&self, outputs_without_call: OnOutputWithoutCall) -> Result<(), Refusal> {
        match self.repaired(outputs_without_call).repairs.first() {
            Some(repair) => {
                let source = self.source(repair).unwrap_or(repair.position);
                Err(repair.fault.refusal(source))
            }
            None => Ok(()),
        }
    }

    /// Repairs the items that the server does not have. `placeholder` creates the stored form of a
    /// placeholder output.
    pub(super) fn repair(
        &self,
        outputs_without_call: OnOutputWithoutCall,
        placeholder: impl FnMut(&Item) -> HeldItem,
    ) -> RepairedDraft {
        let repaired = self.repaired(outputs_without_call);
        let fresh = self.new_items(&repaired, placeholder);
        let report = |repair: &Repair| {
            let item = &self.items[repair.position];
            ReportedRepair::from_repair(self.source(repair), item, repair)
        };
        let repairs = repaired.repairs.iter().map(report).collect();
        RepairedDraft { sent: repaired.items, fresh, repairs }
    }

    fn repaired(&self, outputs_without_call: OnOutputWithoutCall) -> Repaired {
        let made_with = self.reasoning.clone();
        let policy = Policy { outputs_without_call, made_with, ..Policy::default() };
        repair_after(self.at_server, &self.items, &policy)
    }

    /// The position in the input of the repaired item; `None` for a stored item.
    fn source(&self, repair: &Repair) -> Option<usize> {
        self.admission.source(self.places[repair.position])
    }

    /// The sent items that are not stored yet, in their stored form: new input, and placeholders.
    fn new_items(
        &self,
        repaired: &Repaired,
        mut placeholder: impl FnMut(&Item) -> HeldItem,
    ) -> Vec<HeldItem> {
        let is_dropped =
            |repair: &&Repair| matches!(repair.action, Action::Dropped | Action::Replaced);
        let dropped: HashSet<usize> =
            repaired.repairs.iter().filter(is_dropped).map(|repair| repair.position).collect();
        let sent = (self.at_server..self.items.len()).filter(|nth| !dropped.contains(nth));
        let mut sent = sent.peekable();
        let mut new = Vec::new();
        for item in &repaired.items {
            // A placeholder is either new, or an item of the input.
            let nth = match is_placeholder_item(item) {
                true => sent.next_if(|nth| self.items[*nth].raw() == item.raw()),
                false => sent.next(),
            };
            match nth.map(|nth| self.places[nth]) {
                Some(at) if at < self.admission.held => {}
                Some(at) => {
                    let held = self.admission.transcript.items()[at].clone();
                    let body = match held.body {
                        Body::Stored(_) => Body::Stored(item.raw().clone()),
                        body => body,
                    };
                    new.push(HeldItem { head: item.head().clone(), body, ..held });
                }
                None => new.push(placeholder(item)),
            }
        }
        new
    }
}
