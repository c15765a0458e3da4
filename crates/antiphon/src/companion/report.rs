//! What a turn left out and mended.

use std::collections::BTreeMap;

use crate::faults::LeftOut;
use crate::item::{Item, ItemId, Kind};
use crate::made_up::LateOutput;
use crate::repair::{Finding, Mend};

/// What was done to a request, to be told to its caller and its operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many items of the input the server held already.
    pub resent: usize,
    /// What was mended.
    pub mends: Vec<Mending>,
    /// What the server refused of the request as it was first sent, whereupon it was sent once more,
    /// otherwise.
    pub relearned: Option<&'static str>,
    /// Whether the server does not tell what it holds, so that items were left out by their kind.
    pub by_kind: bool,
}

/// Something that a provider would have refused or doubled, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mending {
    /// The item's position in the input; `None` for an item that the server holds.
    pub position: Option<usize>,
    /// The item's id, where it has one.
    pub id: Option<ItemId>,
    /// What the item is.
    pub kind: Kind,
    /// What was found, by its name in reports.
    pub fault: &'static str,
    /// What was done, by its name in reports.
    pub action: &'static str,
    /// The provider's words for the fault, or ours where it has none.
    pub message: String,
}

impl Report {
    /// The headers that tell of it, as a gateway writes them.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![("antiphon-resent", self.resent.to_string())];
        if !self.mends.is_empty() {
            headers.push(("antiphon-repairs", self.counts()));
        }
        if self.relearned.is_some() {
            headers.push(("antiphon-relearned", "true".to_owned()));
        }
        headers
    }

    /// `fault=N, …`, by name.
    fn counts(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for mending in &self.mends {
            *counts.entry(mending.fault).or_default() += 1;
        }
        let counts: Vec<String> =
            counts.iter().map(|(fault, count)| format!("{fault}={count}")).collect();
        counts.join(", ")
    }

    pub(super) fn left_out(&mut self, position: usize, item: &Item, why: LeftOut) {
        self.add(Some(position), item, (why.name(), "dropped"), why.message().to_owned());
    }

    pub(super) fn mended(&mut self, position: Option<usize>, item: &Item, mend: &Mend) {
        let refusal = mend.fault.refusal(position.unwrap_or(mend.position));
        let what = (mend.fault.name(), mend.action.name());
        self.add(position, item, what, refusal.message);
    }

    pub(super) fn late_output(&mut self, position: usize, item: &Item, what: LateOutput) {
        let message = what.message().to_owned();
        self.add(Some(position), item, (LateOutput::FAULT, what.action()), message);
    }

    /// A message goes without its id, under which another is held.
    pub(super) fn unnamed(&mut self, position: usize, item: &Item) {
        let message = "The id is held for another item; this one goes without.".to_owned();
        self.add(Some(position), item, ("used_id", "id_removed"), message);
    }

    /// A held item was deleted at the server, which refuses every turn behind it.
    pub(super) fn deleted_upstream(&mut self, held: &Item, fault: &'static str) {
        let message = "The upstream took no turn behind the item, which was deleted there.";
        self.add(None, held, (fault, "deleted_upstream"), message.to_owned());
    }

    /// The output that was made up for a call gave way to the real one.
    pub(super) fn gave_way_upstream(&mut self, made_up: &Item) {
        let message = "The output that was made up was deleted: the real one takes its place.";
        self.add(None, made_up, (LateOutput::FAULT, "deleted_upstream"), message.to_owned());
    }

    /// A held item stays in the response that the caller named, and the turn goes on around it.
    pub(super) fn left_behind(&mut self, held: &Item, fault: &'static str) {
        let message = "The upstream took no turn behind the item. This one goes on from the response \
                       before it, and refers to what else stood there.";
        self.add(None, held, (fault, "left_behind"), message.to_owned());
    }

    /// What was found where nobody can tell what is held.
    pub(super) fn found_by_kind(&mut self, input: &[(usize, &Item)], findings: &[Finding]) {
        for finding in findings {
            match (&finding.fault, finding.position) {
                (Some(fault), Some(nth)) => {
                    let (position, item) = input[nth];
                    let action = finding.action.map_or("dropped", |action| action.name());
                    let message = fault.refusal(position).message;
                    self.add(Some(position), item, (fault.name(), action), message);
                }
                _ => self.resent += 1,
            }
        }
        self.by_kind = true;
    }

    fn add(
        &mut self,
        position: Option<usize>,
        item: &Item,
        (fault, action): (&'static str, &'static str),
        message: String,
    ) {
        let (id, kind) = (item.head().id.clone(), item.head().kind.clone());
        self.mends.push(Mending { position, id, kind, fault, action, message });
    }
}
