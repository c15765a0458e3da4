//! Finds the differences between the view of a turn and its transcript.

use std::collections::{HashMap, VecDeque};

use antiphon::placeholder::is_placeholder_item;
use antiphon::repair::ReportedRepair;
use antiphon::{HeldItem, Item, Kind};
use antiphon_store::{Seq, Tenant};
use bytes::Bytes;

use super::{ChangedItem, SentItems, SentView};
use crate::compaction::{CompactionKey, is_summary};
use crate::turn::plan::Plan;

/// The fields that a repair may change. Only their values are recorded.
const CHANGEABLE: [&str; 4] = ["id", "call_id", "approval_request_id", "status"];
/// The action of the repair that adds a placeholder output.
const ANSWERED: &str = "answered";

impl SentView {
    /// The record of the plan's view. `None` if the model receives the whole transcript unchanged.
    ///
    /// A turn without repairs costs only a few comparisons.
    pub(in crate::turn) fn record(
        plan: &Plan,
        key: &CompactionKey,
        tenant: &Tenant,
    ) -> Option<Self> {
        let is_whole = plan.prompt.view.len() == plan.transcript.items().len()
            && plan.report.changes.leaves_items_unchanged()
            && plan.transcript.compactions().is_empty()
            && plan.preface.is_none()
            && !plan.asks_again();
        (!is_whole).then(|| Builder::new(plan, key, tenant).build())
    }
}

/// Finds the source of each item of a view.
struct Builder<'a> {
    plan: &'a Plan,
    key: &'a CompactionKey,
    tenant: &'a Tenant,
    /// The positions of the transcript's items by the address of their bytes, which the view
    /// shares.
    by_address: HashMap<*const u8, VecDeque<usize>>,
    /// Whether each item of the transcript is in the view.
    is_sent: Vec<bool>,
    view: SentView,
}

impl<'a> Builder<'a> {
    fn new(plan: &'a Plan, key: &'a CompactionKey, tenant: &'a Tenant) -> Self {
        let items = plan.transcript.items();
        let mut by_address: HashMap<_, VecDeque<usize>> = HashMap::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            if let Some(bytes) = item.body.bytes() {
                by_address.entry(bytes.as_ptr()).or_default().push_back(at);
            }
        }
        let is_sent = vec![false; items.len()];
        Self { plan, key, tenant, by_address, is_sent, view: SentView::default() }
    }

    fn build(mut self) -> SentView {
        let view = &self.plan.prompt.view;
        let found: Vec<Option<usize>> = view.iter().map(|item| self.find(item)).collect();
        let mut changeable = None;
        for (item, found) in view.iter().zip(found) {
            if let Some(at) = found {
                self.view.push(seq(at));
            } else {
                let items = self.describe(item, &mut changeable);
                self.view.items.push(items);
            }
        }
        self.add_left_out();
        self.view
    }

    /// The position of an unchanged item.
    fn find(&mut self, item: &Item) -> Option<usize> {
        let at = self.by_address.get_mut(&item.raw().as_ptr())?.pop_front()?;
        self.is_sent[at] = true;
        Some(at)
    }

    /// Describes an item of the view that is not an unchanged item of the transcript.
    fn describe(&mut self, item: &Item, changeable: &mut Option<Changeable>) -> SentItems {
        if let Some(opened) = self.find_compaction(item) {
            return SentItems::Opened { opened };
        }
        let changeable = changeable.get_or_insert_with(|| self.changeable());
        let at = changeable.get_mut(&unnamed(item)).and_then(VecDeque::pop_front);
        if let Some((at, changed)) = at.and_then(|at| Some((at, self.compare(at, item)?))) {
            self.is_sent[at] = true;
            return SentItems::Changed(changed);
        }
        // A message that carries a late output has content of the client.
        if item.head().kind.call().is_some() && is_placeholder_item(item) {
            let repair = self.find_answering_repair(item);
            let placeholder = String::from_utf8_lossy(item.raw()).into_owned();
            return SentItems::Placeholder { placeholder, repair };
        }
        SentItems::Unknown { unknown: item.head().kind.to_string() }
    }

    /// The items of the transcript that are not sent unchanged, by their content without ids.
    fn changeable(&self) -> Changeable {
        let mut changeable = Changeable::new();
        for (at, held) in self.unsent() {
            if let Some(item) = held.item() {
                changeable.entry(unnamed(&item)).or_default().push_back(at);
            }
        }
        changeable
    }

    /// The live items of the transcript that are not sent, with their positions.
    fn unsent(&self) -> impl Iterator<Item = (usize, &'a HeldItem)> {
        let items = self.plan.transcript.items().iter().enumerate();
        items.filter(|(at, held)| !self.is_sent[*at] && !held.is_tombstone())
    }

    /// The changes that make `item` from the stored one at this position. `None` if more than ids
    /// differ.
    fn compare(&self, at: usize, item: &Item) -> Option<ChangedItem> {
        let held = &self.plan.transcript.items()[at];
        let stored = held.item()?;
        let (old, new) = (stored.object(), item.object());
        let removed = CHANGEABLE.iter().filter(|key| old.get(key).is_some());
        let removed = removed.filter(|key| new.get(key).is_none()).map(|key| (*key).to_owned());
        let set = CHANGEABLE.iter().filter_map(|key| Some((*key, new.get(key)?)));
        let set = set.filter(|(key, raw)| old.get(key) != Some(raw));
        let changed = ChangedItem {
            changed: seq(at),
            set: set.map(|(key, raw)| (key.to_owned(), raw.to_owned())).collect(),
            removed: removed.collect(),
            repair: self.find_repair(at, held),
        };
        let mut rebuilt = stored.object();
        changed.apply(&mut rebuilt);
        (rebuilt.to_bytes() == *item.raw()).then_some(changed)
    }

    /// The position of the compaction that the model receives as this item. The gateway's own new
    /// compaction is the first item after the transcript.
    fn find_compaction(&self, item: &Item) -> Option<Seq> {
        if !is_summary(item) && item.head().kind != Kind::Compaction {
            return None;
        }
        let items = self.plan.transcript.items();
        if self.plan.preface.is_some() {
            return Some(seq(items.len()));
        }
        let mut compactions = self.plan.transcript.compactions().iter().rev();
        let opens = |at: &&usize| {
            let opened = items[**at].item().and_then(|it| self.key.unseal_item(self.tenant, &it));
            opened.is_some_and(|opened| opened.raw() == item.raw())
        };
        compactions.find(opens).map(|at| seq(*at))
    }

    /// Adds the live items that the model does not receive, if the report has the reason.
    fn add_left_out(&mut self) {
        let unsent: Vec<_> = self.unsent().collect();
        for (at, held) in unsent {
            let source = self.plan.input_position(at);
            if self.plan.report.changes.is_truncated(source, &held.id) {
                self.view.truncated.push(seq(at));
            } else if let Some(repair) = self.find_repair(at, held) {
                self.view.left_out.push((seq(at), repair));
            }
        }
    }

    /// The index of the last repair of an item of the transcript.
    fn find_repair(&self, at: usize, held: &HeldItem) -> Option<usize> {
        let (source, head) = (self.plan.input_position(at), &held.head);
        let is_its = |repair: &ReportedRepair| {
            if source.is_some() {
                return repair.position == source;
            }
            let has_its_id = repair.id.is_some() && repair.id == head.id;
            let has_its_call = || repair.call_id.is_some() && repair.call_id == head.call_id;
            let is_unnamed = || repair.id.is_none() && head.id.is_none();
            repair.position.is_none()
                && repair.kind == head.kind
                && (has_its_id || has_its_call() || is_unnamed())
        };
        let repairs = self.plan.report.changes.repairs();
        repairs.iter().rposition(|repair| repair.action != ANSWERED && is_its(repair))
    }

    /// The index of the repair that added this placeholder output.
    fn find_answering_repair(&self, output: &Item) -> Option<usize> {
        let call_id = &output.head().call_id;
        let repairs = self.plan.report.changes.repairs();
        let answers = |repair: &ReportedRepair| repair.action == ANSWERED;
        let named = |repair: &ReportedRepair| answers(repair) && repair.call_id == *call_id;
        repairs.iter().position(named).or_else(|| repairs.iter().position(answers))
    }
}

/// Positions in the transcript by content.
type Changeable = HashMap<Bytes, VecDeque<usize>>;

/// The bytes of an item without the fields that a repair may change.
fn unnamed(item: &Item) -> Bytes {
    let mut fields = item.object();
    for key in CHANGEABLE {
        fields.remove(key);
    }
    fields.to_bytes()
}

fn seq(position: usize) -> Seq {
    position as Seq
}
