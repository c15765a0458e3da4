//! Maps the upstream's items to output items.

use bytes::Bytes;

use super::Assembler;
use super::routes::{Route, Routes};
use crate::item::{CallId, CallKey, Item, ItemId, Kind, Tool};
use crate::json::{Object, quote};
use crate::stream::fields::Fixes;
use crate::stream::output_item::{MatchMode, OutputItem, Similarity};
use crate::stream::upstream_event::UpstreamEvent;
use crate::stream::vocabulary::holds_parts;

/// Maximum number of events that wait for the announcement of their item. Servers that send events
/// too early send only a few.
const MAX_EARLY: usize = 256;

impl Assembler {
    pub(super) fn apply_output_event(&mut self, event: &UpstreamEvent<'_>) {
        match event.kind {
            "response.output_item.added" => self.apply_item_added(event),
            "response.output_item.done" => self.apply_item_done(event),
            _ => self.apply_within_item(event),
        }
    }

    fn apply_item_added(&mut self, event: &UpstreamEvent<'_>) {
        // A call without a name is announced when its name arrives.
        let Some(item) = event.item().filter(|item| !is_nameless_call(item)) else {
            return;
        };
        if self.suppresses(&item, Some(event)) {
            return;
        }
        let index = event.index();
        let route = match self.find_announced(index, &item) {
            Some(at) => self.announce_again(index, at),
            None if self.suppresses_extra(&item, Some(event)) => return,
            None => self.announce(&item, Some(event)),
        };
        self.routes.add(index, &item, route);
        self.apply_early();
    }

    /// The position of the item that this announcement repeats, found by its name or else by its
    /// index.
    fn find_announced(&self, index: Option<u64>, item: &Item) -> Option<usize> {
        let at_of = |route: Route| route.at;
        let by_names = self.routes.by_names(item).into_iter().flatten().map(at_of);
        let by_index = self.routes.by_index(index).map(at_of);
        by_names
            .filter(|at| self.items[*at].is_announced_by(item))
            .chain(by_index.filter(|at| self.items[*at].is_announced_at_its_index_by(item)))
            .next()
    }

    /// A repeated announcement at the same index counts as the first one.
    fn announce_again(&mut self, index: Option<u64>, at: usize) -> Route {
        let same = self.routes.by_index(index).filter(|route| route.at == at);
        same.unwrap_or_else(|| Route { at, announcement: self.items[at].announce_again() })
    }

    /// Applies the waiting events again: one of their items may be announced now.
    fn apply_early(&mut self) {
        for event in std::mem::take(&mut self.early) {
            if self.has_ended() {
                return;
            }
            let object = Object::parse(&event).expect("it was read before it was kept");
            self.apply_object(&event, &object);
        }
    }

    fn apply_item_done(&mut self, event: &UpstreamEvent<'_>) {
        let Some(item) = event.item() else { return };
        if self.suppresses(&item, Some(event)) {
            return;
        }
        let index = event.index();
        match self.find_done(index, &item) {
            Some((at, _)) if self.items[at].is_open() => {
                self.finish_item(at, &item, "completed", Some(event));
            }
            Some((at, Similarity::SameContent | Similarity::Identical)) => {
                self.note_other_id(at, &item);
            }
            _ if self.suppresses_extra(&item, Some(event)) => {}
            _ => {
                let route = self.emit_whole_item(&item, "completed");
                self.routes.add(index, &item, route);
                self.apply_early();
            }
        }
    }

    /// Applies an event of an item, or forwards an event of the whole response.
    fn apply_within_item(&mut self, event: &UpstreamEvent<'_>) {
        if let Some(Route { at, announcement }) = self.route(event) {
            self.items[at].apply(event, announcement, &mut self.emitter);
        } else if event.is_item_event() {
            self.apply_unannounced(event);
        } else {
            self.emitter.forward(event, &Fixes::default());
        }
    }

    /// Applies a text or part event without an announced item. It creates the item if the kind
    /// needs no other fields; otherwise it waits for the announcement.
    fn apply_unannounced(&mut self, event: &UpstreamEvent<'_>) {
        if self.suppressed.has(event) {
            return;
        }
        let index = event.index();
        let known = self.routes.by_index(index);
        let is_used = known.is_some_and(|route| !self.items[route.at].is_open());
        let item_kind = event.item_kind().filter(|kind| holds_parts(kind) && !is_used);
        if let Some(item) = item_kind.and_then(|kind| new_item(kind, event)) {
            let route = self.announce(&item, None);
            self.routes.add(index, &item, route);
            self.items[route.at].apply(event, route.announcement, &mut self.emitter);
        } else if event.meaning.belongs_to_item() && self.early.len() < MAX_EARLY {
            self.early.push(event.bytes());
        }
    }

    /// The item of an event. The index decides if the id is unknown or if the upstream gives it to
    /// several items; otherwise the id decides.
    fn route(&self, event: &UpstreamEvent<'_>) -> Option<Route> {
        let by_index = self.routes.by_index(event.index());
        let id = event.item_id();
        let by_id = id.as_deref().and_then(|id| self.by_name(event, id));
        let announced = |route: &Route| self.items[route.at].upstream_item().head();
        let goes_by_id =
            |route: &Route| announced(route).id.as_ref().map(ItemId::as_str) == id.as_deref();
        let by_index = by_index.filter(|route| match by_id {
            Some(by_id) => by_id.at == route.at || goes_by_id(route),
            None => self.items[route.at].is_open() && event.belongs_to_kind(&announced(route).kind),
        });
        by_index.or(by_id).filter(|route| event.can_belong_to(&announced(route).kind))
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
    fn find_done(&self, index: Option<u64>, item: &Item) -> Option<(usize, Similarity)> {
        let mode = |route: Route, is_its_place: bool| {
            let is_its_end =
                is_its_place && self.items[route.at].accepts_announcement(route.announcement);
            (route.at, if is_its_end { MatchMode::Done } else { MatchMode::OtherDone })
        };
        let has_its_id =
            |route: &Route| self.items[route.at].upstream_item().head().id == item.head().id;
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
            let similarity = self.items[at].similarity(item, mode);
            if most_similar.is_none_or(|(_, best)| similarity > best) {
                most_similar = Some((at, similarity));
            }
        }
        most_similar.filter(|(_, similarity)| *similarity > Similarity::Different)
    }

    pub(super) fn finish_item(
        &mut self,
        at: usize,
        item: &Item,
        status: &str,
        event: Option<&UpstreamEvent<'_>>,
    ) {
        if self.items[at].is_open() {
            self.items[at].done(item, status, event, &mut self.emitter);
            self.note_other_id(at, item);
        }
    }

    pub(super) fn announce(&mut self, item: &Item, event: Option<&UpstreamEvent<'_>>) -> Route {
        self.emit_preface();
        let names = self.identity.assign(item);
        let at = self.items.len();
        let output = OutputItem::announce(item, names, at, event, &mut self.emitter);
        self.items.push(output);
        Route::first(at)
    }

    /// Emits all events of an item that arrives whole.
    pub(super) fn emit_whole_item(&mut self, item: &Item, status: &str) -> Route {
        let route = self.announce(item, None);
        self.items[route.at].done(item, status, None, &mut self.emitter);
        route
    }

    fn note_other_id(&mut self, at: usize, item: &Item) {
        let known = &self.items[at];
        if known.upstream_item().head().id != item.head().id {
            self.identity.note_other_id(item, known.id().clone());
        }
    }
}

impl Assembler {
    /// The output items so far. An open item is as in its announcement.
    pub fn output_items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().map(OutputItem::item)
    }

    /// Approximate number of bytes held in memory: items, and events that wait for their item.
    pub fn output_length(&self) -> usize {
        let items: usize = self.items.iter().map(OutputItem::length).sum();
        let early: usize = self.early.iter().map(Bytes::len).sum();
        items + early
    }

    /// Drops the output of an answer that is too long to hold. This emits no event: call
    /// [`fail`](Self::fail) next; the items are not closed.
    pub fn discard_output(&mut self) {
        self.items.clear();
        self.early.clear();
        self.routes = Routes::default();
    }
}

fn is_nameless_call(item: &Item) -> bool {
    let has_name = item.head().kind.tool().is_some_and(Tool::is_named);
    has_name && item.object().string("name").is_none_or(|name| name.is_empty())
}

/// Creates the beginning of an item of this kind from one of its events.
fn new_item(kind: &Kind, event: &UpstreamEvent<'_>) -> Option<Item> {
    let mut item = Object::default();
    if let Some(id) = event.item_id() {
        item.set("id", quote(&id));
    }
    item.set("type", quote(kind.as_str()));
    Item::parse(item.to_bytes()).ok()
}
