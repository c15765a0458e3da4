//! The output of the finished response, beside what was told of it.

use super::Assembler;
use crate::item::Item;
use crate::json::Object;
use crate::stream::heard::output_of;
use crate::stream::output_item::{Likeness, Occasion};

impl Assembler {
    /// Takes the items of the finished response: each is one that was told of, or comes whole.
    /// `status`: that of an item which does not say that it ended.
    pub(super) fn hear_final_output(&mut self, response: &Object<'_>, status: &str) {
        let mut items = output_of(response);
        items.retain(|item| !self.suppresses(item, None));
        let known = self.find_all(&items);
        for (item, known) in items.iter().zip(known) {
            if let Some(at) = known {
                self.item_ends(at, item, status, None);
            } else if !self.is_told(item) && !self.suppresses_another(item, None) {
                let route = self.whole(item, status);
                self.routes.add(None, item, route);
            }
        }
    }

    /// Which of the items that were told of each of these is: all are looked for by their names
    /// first, so that none takes another's place, then by what they say.
    fn find_all(&self, items: &[Item]) -> Vec<Option<usize>> {
        let mut known = vec![None; items.len()];
        let mut found = Found::none_of(self.items.len());
        for occasion in [Occasion::FinalByName, Occasion::FinalBySaying] {
            for (index, item) in items.iter().enumerate() {
                if known[index].is_none() {
                    known[index] = self.find(index, item, occasion, &mut found);
                }
            }
        }
        known
    }

    /// The item at the same index, of the same name, or the first that is not found yet.
    fn find(
        &self,
        index: usize,
        item: &Item,
        occasion: Occasion,
        found: &mut Found,
    ) -> Option<usize> {
        let [by_call, by_id] = self.routes.by_names(item);
        let by_index = self.routes.by_index(u64::try_from(index).ok());
        let named = [by_index, by_call, by_id].into_iter().flatten().map(|route| route.at);
        let candidates = named.chain(found.next()).filter(|at| !found.has[*at]);
        let (at, _) = self.likest(candidates.map(|at| (at, occasion)), item)?;
        found.has[at] = true;
        Some(at)
    }

    /// Whether the item is one that was told of, once more.
    fn is_told(&self, item: &Item) -> bool {
        let named = self.routes.by_names(item).into_iter().flatten();
        let named = named.map(|route| (route.at, Occasion::FinalBySaying));
        self.likest(named, item).is_some_and(|(_, likeness)| likeness >= Likeness::Alike)
    }
}

/// Which items were found in the finished response.
struct Found {
    has: Vec<bool>,
    /// All before it were found.
    next: usize,
}

impl Found {
    fn none_of(count: usize) -> Self {
        Self { has: vec![false; count], next: 0 }
    }

    /// The first item that is not found yet.
    fn next(&mut self) -> Option<usize> {
        while self.has.get(self.next) == Some(&true) {
            self.next += 1;
        }
        (self.next < self.has.len()).then_some(self.next)
    }
}
