//! The part of a history that requests repeat, so that a request costs the work of its new items.

use std::collections::HashSet;
use std::sync::Arc;

use antiphon::Item;
use antiphon::item::{CallKey, Head, ItemId, Kind};
use antiphon::repair::{Repair, ReportedRepair, repair};

use super::owner::with_ordered_outputs;
use super::state::{ClientHistory, RunState};
use crate::rules::history;

/// The beginning of a client's history as the model reads it.
///
/// It is valid while the history only grows. Items after it that refer to an item of it, or that
/// need a repair, make the whole history be prepared again.
#[derive(Clone, Debug, Default)]
pub(super) struct Prepared {
    /// The number of items of the history that it stands for.
    source: usize,
    pub(super) items: Arc<Vec<Item>>,
    pub(super) repairs: Vec<ReportedRepair>,
    ids: HashSet<ItemId>,
    calls: HashSet<CallKey>,
}

/// A client's history: the items before the run or those that replace them, and those of the run
/// after them.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) held: &'a [Item],
    pub(super) run: &'a [Item],
}

impl<'a> Source<'a> {
    pub(super) fn new(state: &'a RunState, history: &'a ClientHistory) -> Self {
        let (held, run_from) = match &history.view {
            Some(view) => (&view.items, view.run_from),
            None => (&history.held, history.run_from),
        };
        Self { held, run: &state.items[run_from..] }
    }

    fn len(&self) -> usize {
        self.held.len() + self.run.len()
    }

    /// The items after the first `count`; `None` if that is not the end of the run.
    fn after(&self, count: usize) -> Option<&'a [Item]> {
        self.run.get(count.checked_sub(self.held.len())?..)
    }

    fn ends_with_message(&self) -> bool {
        self.run.last().is_some_and(|item| item.head().kind == Kind::Message)
    }

    /// Whether nothing that comes later changes the meaning of the last item.
    fn is_closed(&self) -> bool {
        self.run.last().is_some_and(|item| !item.head().is_model_made())
    }
}

impl Prepared {
    /// Prepares all of a history for one request. `limit` is the number of items before the run
    /// that are given.
    pub(super) fn whole(source: Source<'_>, limit: Option<usize>) -> Self {
        let (input, mut repairs) = history::prepare(source.held, source.run, limit);
        let input = with_ordered_outputs(&input);
        let repaired = repair(&input);
        let report =
            |repair: &Repair| ReportedRepair::from_repair(None, &input[repair.position], repair);
        repairs.extend(repaired.repairs.iter().map(report));
        let items = Arc::new(repaired.items);
        Self { source: source.len(), items, repairs, ..Self::default() }
    }

    /// The items that follow in the next request. `None` if all items have to be prepared again.
    pub(super) fn next_items(&self, source: Source<'_>) -> Option<Vec<Item>> {
        let new = source.after(self.source).filter(|_| self.source > 0)?;
        if new.iter().any(|item| self.concerns(item)) {
            return None;
        }
        let repaired = repair(&with_ordered_outputs(new));
        repaired.repairs.is_empty().then_some(repaired.items)
    }

    /// The prepared items and those after them. They are shared if there are none after them.
    pub(super) fn items_with(&self, next: Vec<Item>) -> Arc<Vec<Item>> {
        let mut items = Arc::clone(&self.items);
        if !next.is_empty() {
            Arc::make_mut(&mut items).extend(next);
        }
        items
    }

    /// Includes the items of the next request.
    pub(super) fn extend(&mut self, source: Source<'_>) {
        if !source.is_closed() {
            return;
        }
        if let Some(items) = self.next_items(source) {
            // A request that has the items may be about to be sent; otherwise this copies nothing.
            if !items.is_empty() {
                Arc::make_mut(&mut self.items).extend(items);
            }
            self.index(source.after(self.source).unwrap_or_default());
            self.source = source.len();
            return;
        }
        *self = Self::default();
        let whole = Self::whole(source, None);
        // A repair at the end may have been made because of items that had not come yet.
        if whole.repairs.is_empty() || source.ends_with_message() {
            *self = whole;
            self.index(source.held);
            self.index(source.run);
        }
    }

    /// Whether the item may refer to a prepared item.
    fn concerns(&self, item: &Item) -> bool {
        let head = item.head();
        let is_of_call = head.kind.call().is_some() || head.kind.output().is_some();
        head.id.as_ref().is_some_and(|id| self.ids.contains(id))
            || match head.pairing() {
                Some((_, key)) => self.calls.contains(&key),
                None => is_of_call,
            }
    }

    fn index(&mut self, items: &[Item]) {
        let heads = || items.iter().map(Item::head);
        self.ids.extend(heads().filter_map(|head| head.id.clone()));
        self.calls.extend(heads().filter_map(Head::pairing).map(|(_, key)| key));
    }
}
