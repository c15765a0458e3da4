//! The output items, and the upstream's names for them.

use std::ops::{Index, IndexMut};

use super::routes::{Route, Routes};
use crate::item::{CallId, CallKey, Item};
use crate::stream::output_item::{MatchMode, OutputItem, Similarity};
use crate::stream::upstream_event::UpstreamEvent;

/// The output items so far, by their positions and by the upstream's names for them.
#[derive(Default)]
pub(super) struct OutputItems {
    list: Vec<OutputItem>,
    pub(super) routes: Routes,
}

impl OutputItems {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, OutputItem> {
        self.list.iter()
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, OutputItem> {
        self.list.iter_mut()
    }

    pub(super) fn push(&mut self, item: OutputItem) -> Route {
        // Most answers have one item, and the first growth of a vector has room for four.
        if self.list.is_empty() {
            self.list.reserve_exact(1);
        }
        self.list.push(item);
        Route::first(self.list.len() - 1)
    }

    /// The position of the item that this announcement repeats, found by its name or else by its
    /// index.
    pub(super) fn find_announced(&self, index: Option<u64>, item: &Item) -> Option<usize> {
        let at_of = |route: Route| route.at;
        let by_names = self.routes.by_names(item).into_iter().flatten().map(at_of);
        let by_index = self.routes.by_index(index).map(at_of);
        by_names
            .filter(|at| self[*at].is_announced_by(item))
            .chain(by_index.filter(|at| self[*at].is_announced_at_its_index_by(item)))
            .next()
    }

    /// A repeated announcement at the same index counts as the first one.
    pub(super) fn announce_again(&mut self, index: Option<u64>, at: usize) -> Route {
        let same = self.routes.by_index(index).filter(|route| route.at == at);
        same.unwrap_or_else(|| Route { at, announcement: self[at].announce_again() })
    }

    /// The item of an event. The index decides if the id is unknown or if the upstream gives it to
    /// several items; otherwise the id decides.
    pub(super) fn route(&self, event: &UpstreamEvent<'_>) -> Option<Route> {
        let by_index = self.routes.by_index(event.index());
        let id = event.item_id();
        let announced = |route: &Route| self[route.at].upstream_item().head();
        let has_id = |route: &Route| match (&announced(route).id, &id) {
            (Some(announced), Some(id)) => announced.as_str() == id,
            _ => false,
        };
        // Nearly every event names its item both ways.
        let route = by_index.filter(has_id).or_else(|| {
            let by_id = id.as_deref().and_then(|id| self.by_name(event, id));
            let by_index = by_index.filter(|route| match by_id {
                Some(by_id) => by_id.at == route.at,
                None => self[route.at].is_open() && event.belongs_to_kind(&announced(route).kind),
            });
            by_index.or(by_id)
        });
        route.filter(|route| event.can_belong_to(&announced(route).kind))
    }

    /// By the item id. Some servers put the `call_id` into a call's events.
    fn by_name(&self, event: &UpstreamEvent<'_>, id: &str) -> Option<Route> {
        self.routes.by_id(id).or_else(|| self.by_call_id(event, id))
    }

    fn by_call_id(&self, event: &UpstreamEvent<'_>, id: &str) -> Option<Route> {
        let kind = event.meaning.text()?.item_kind.clone();
        let call_id = CallId::from(id);
        self.routes.by_call(&CallKey { kind, call_id })
    }

    /// The item that matches the upstream's finished item best: the one at the same index or with
    /// the same name.
    pub(super) fn find_done(&self, index: Option<u64>, item: &Item) -> Option<(usize, Similarity)> {
        let mode = |route: Route, is_its_place: bool| {
            let is_its_end =
                is_its_place && self[route.at].accepts_announcement(route.announcement);
            (route.at, if is_its_end { MatchMode::Done } else { MatchMode::OtherDone })
        };
        let has_its_id = |route: &Route| self[route.at].upstream_item().head().id == item.head().id;
        let by_index = self.routes.by_index(index).map(|route| mode(route, true));
        let by_names = self.routes.by_names(item).into_iter().flatten();
        let by_names = by_names.map(|route| mode(route, has_its_id(&route)));
        self.most_similar(by_index.into_iter().chain(by_names), item)
    }

    /// The first of the best matching candidates, if any matches.
    pub(super) fn most_similar(
        &self,
        candidates: impl Iterator<Item = (usize, MatchMode)>,
        item: &Item,
    ) -> Option<(usize, Similarity)> {
        let mut most_similar: Option<(usize, Similarity)> = None;
        for (at, mode) in candidates {
            let similarity = self[at].similarity(item, mode);
            if most_similar.is_none_or(|(_, best)| similarity > best) {
                most_similar = Some((at, similarity));
            }
        }
        most_similar.filter(|(_, similarity)| *similarity > Similarity::Different)
    }
}

impl Index<usize> for OutputItems {
    type Output = OutputItem;

    fn index(&self, at: usize) -> &OutputItem {
        &self.list[at]
    }
}

impl IndexMut<usize> for OutputItems {
    fn index_mut(&mut self, at: usize) -> &mut OutputItem {
        &mut self.list[at]
    }
}
