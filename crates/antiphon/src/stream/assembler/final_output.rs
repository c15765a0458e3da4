//! Compares the output of the finished response with the items of the stream.

use super::output::OutputBuilder;
use super::output_items::OutputItems;
use crate::item::Item;
use crate::json::Object;
use crate::stream::output_item::{MatchMode, Similarity};
use crate::stream::upstream_event::parse_output;

impl OutputBuilder {
    /// Applies the items of the finished response. Each one ends an item of the stream or is a
    /// whole new item. `status` is for an item without a final status of its own.
    pub(super) fn apply_final_output(&mut self, response: &Object<'_>, status: &str) {
        let mut items = parse_output(response);
        items.retain(|item| !self.calls.suppresses(item, None, &mut self.notes));
        let known = self.items.match_all(&items);
        for (item, known) in items.iter().zip(known) {
            if let Some(at) = known {
                self.finish_item(at, item, status, None);
            } else if !self.items.holds(item) && !self.suppresses_extra(item, None) {
                let route = self.emit_whole_item(item, status);
                self.items.routes.add(None, item, route);
            }
        }
    }
}

impl OutputItems {
    /// Finds for each of these the item of the stream that it repeats. Names are matched first for
    /// all of them, so that no item takes the match of another; then the content.
    fn match_all(&self, items: &[Item]) -> Vec<Option<usize>> {
        let mut known = vec![None; items.len()];
        let mut matches = Matches::none(self.len());
        for mode in [MatchMode::FinalByName, MatchMode::FinalByContent] {
            for (index, item) in items.iter().enumerate() {
                if known[index].is_none() {
                    known[index] = self.find_match(index, item, mode, &mut matches);
                }
            }
        }
        known
    }

    /// The unmatched item at the same index, with the same name, or else the first unmatched one.
    fn find_match(
        &self,
        index: usize,
        item: &Item,
        mode: MatchMode,
        matches: &mut Matches,
    ) -> Option<usize> {
        let [by_call, by_id] = self.routes.by_names(item);
        let by_index = self.routes.by_index(u64::try_from(index).ok());
        let named = [by_index, by_call, by_id].into_iter().flatten().map(|route| route.at);
        let candidates = named.chain(matches.next()).filter(|at| !matches.is_matched[*at]);
        let (at, _) = self.most_similar(candidates.map(|at| (at, mode)), item)?;
        matches.is_matched[at] = true;
        Some(at)
    }

    /// Whether one of these items repeats it.
    fn holds(&self, item: &Item) -> bool {
        let named = self.routes.by_names(item).into_iter().flatten();
        let named = named.map(|route| (route.at, MatchMode::FinalByContent));
        self.most_similar(named, item)
            .is_some_and(|(_, similarity)| similarity >= Similarity::SameContent)
    }
}

/// The items that are matched with the finished response.
struct Matches {
    is_matched: Vec<bool>,
    /// All items before it are matched.
    next: usize,
}

impl Matches {
    fn none(count: usize) -> Self {
        Self { is_matched: vec![false; count], next: 0 }
    }

    /// The first item that is not matched yet.
    fn next(&mut self) -> Option<usize> {
        while self.is_matched.get(self.next) == Some(&true) {
            self.next += 1;
        }
        (self.next < self.is_matched.len()).then_some(self.next)
    }
}
