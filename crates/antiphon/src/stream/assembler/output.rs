//! From the upstream's items to the output's.

use super::Assembler;
use super::routes::Route;
use crate::item::{CallId, CallKey, Item, ItemId, Kind};
use crate::json::{Object, quote};
use crate::stream::fields::Fixes;
use crate::stream::heard::Heard;
use crate::stream::output_item::{Likeness, Occasion, OutputItem};
use crate::stream::vocabulary::speaks_in_parts;

/// How many events are kept until their items are announced. Servers that err so err by a few.
const MAX_EARLY: usize = 256;

impl Assembler {
    pub(super) fn hear_output(&mut self, heard: &Heard<'_>) {
        match heard.kind {
            "response.output_item.added" => self.item_added(heard),
            "response.output_item.done" => self.item_done(heard),
            _ => self.within_item(heard),
        }
    }

    fn item_added(&mut self, heard: &Heard<'_>) {
        // A call that does not say what it calls yet is told of when it does.
        let Some(item) = heard.item().filter(|item| !is_nameless_call(item)) else {
            return;
        };
        if self.suppresses(&item, Some(heard)) {
            return;
        }
        let index = heard.index();
        let route = match self.announced_before(index, &item) {
            Some(at) => self.announce_again(index, at),
            None if self.suppresses_another(&item, Some(heard)) => return,
            None => self.announce(&item, Some(heard)),
        };
        self.routes.add(index, &item, route);
        self.hear_early();
    }

    /// Where the item of a second announcement is: by its name, or else by its index.
    fn announced_before(&self, index: Option<u64>, item: &Item) -> Option<usize> {
        let at_of = |route: Route| route.at;
        let by_names = self.routes.by_names(item).into_iter().flatten().map(at_of);
        let by_index = self.routes.by_index(index).map(at_of);
        by_names
            .filter(|at| self.items[*at].is_announced_by(item))
            .chain(by_index.filter(|at| self.items[*at].is_announced_at_its_index_by(item)))
            .next()
    }

    /// A second announcement at the same index is the first once more.
    fn announce_again(&mut self, index: Option<u64>, at: usize) -> Route {
        let same = self.routes.by_index(index).filter(|route| route.at == at);
        same.unwrap_or_else(|| Route { at, announcement: self.items[at].announce_again() })
    }

    /// Takes once more what came before the announcement of its item: that may have come now.
    fn hear_early(&mut self) {
        for event in std::mem::take(&mut self.early) {
            if self.has_ended() {
                return;
            }
            let object = Object::parse(&event).expect("it was read before it was kept");
            self.hear_object(&event, &object);
        }
    }

    fn item_done(&mut self, heard: &Heard<'_>) {
        let Some(item) = heard.item() else { return };
        if self.suppresses(&item, Some(heard)) {
            return;
        }
        let index = heard.index();
        match self.likest_end(index, &item) {
            Some((at, _)) if self.items[at].is_open() => {
                self.item_ends(at, &item, "completed", Some(heard));
            }
            Some((at, Likeness::Alike | Likeness::Same)) => self.note_other_id(at, &item),
            _ if self.suppresses_another(&item, Some(heard)) => {}
            _ => {
                let route = self.whole(&item, "completed");
                self.routes.add(index, &item, route);
                self.hear_early();
            }
        }
    }

    /// An event within an item, or one of the response as a whole.
    fn within_item(&mut self, heard: &Heard<'_>) {
        if let Some(Route { at, announcement }) = self.route(heard) {
            self.items[at].hear(heard, announcement, &mut self.emitter);
        } else if heard.names_an_item() {
            self.unannounced(heard);
        } else {
            self.emitter.forward(heard, &Fixes::default());
        }
    }

    /// A text or a part of an item that was not announced: it begins the item, where that needs
    /// nothing else to be known by, or else waits for it.
    fn unannounced(&mut self, heard: &Heard<'_>) {
        if self.suppressed.has(heard) {
            return;
        }
        let index = heard.index();
        let known = self.routes.by_index(index);
        let is_used = known.is_some_and(|route| !self.items[route.at].is_open());
        let speaker = heard.speaker().filter(|kind| speaks_in_parts(kind) && !is_used);
        if let Some(item) = speaker.and_then(|kind| begun(kind, heard)) {
            let route = self.announce(&item, None);
            self.routes.add(index, &item, route);
            self.items[route.at].hear(heard, route.announcement, &mut self.emitter);
        } else if heard.meaning.is_of_an_item() && self.early.len() < MAX_EARLY {
            self.early.push(heard.bytes());
        }
    }

    /// The item that an event names. The index decides where the id is unknown, or one that the
    /// upstream gives to several items; else the id does.
    fn route(&self, heard: &Heard<'_>) -> Option<Route> {
        let by_index = self.routes.by_index(heard.index());
        let id = heard.item_id();
        let by_id = id.as_deref().and_then(|id| self.by_name(heard, id));
        let told = |route: &Route| self.items[route.at].given().head();
        let goes_by_id =
            |route: &Route| told(route).id.as_ref().map(ItemId::as_str) == id.as_deref();
        let by_index = by_index.filter(|route| match by_id {
            Some(by_id) => by_id.at == route.at || goes_by_id(route),
            None => self.items[route.at].is_open() && heard.is_told_by(&told(route).kind),
        });
        by_index.or(by_id).filter(|route| heard.suits(&told(route).kind))
    }

    /// By the item's id. Some servers name a call's events by its `call_id`.
    fn by_name(&self, heard: &Heard<'_>, id: &str) -> Option<Route> {
        self.routes.by_id(id).or_else(|| self.by_call_id(heard, id))
    }

    fn by_call_id(&self, heard: &Heard<'_>, id: &str) -> Option<Route> {
        let kind = heard.meaning.text()?.speaker.clone();
        let call_id = CallId::from(id);
        self.routes.by_call(&CallKey { kind, call_id })
    }

    /// The item that is most like one which the upstream gives at its end: the one at the same
    /// index, or of the same name.
    fn likest_end(&self, index: Option<u64>, item: &Item) -> Option<(usize, Likeness)> {
        let occasion = |route: Route, is_its_place: bool| {
            let is_its_end = is_its_place && self.items[route.at].listens_to(route.announcement);
            (route.at, if is_its_end { Occasion::End } else { Occasion::OtherEnd })
        };
        let has_its_id = |route: &Route| self.items[route.at].given().head().id == item.head().id;
        let by_index = self.routes.by_index(index).map(|route| occasion(route, true));
        let by_names = self.routes.by_names(item).into_iter().flatten();
        let by_names = by_names.map(|route| occasion(route, has_its_id(&route)));
        self.likest(by_index.into_iter().chain(by_names), item)
    }

    /// The first of these that is most like the item, if any is like it at all.
    pub(super) fn likest(
        &self,
        candidates: impl Iterator<Item = (usize, Occasion)>,
        item: &Item,
    ) -> Option<(usize, Likeness)> {
        let mut likest: Option<(usize, Likeness)> = None;
        for (at, occasion) in candidates {
            let likeness = self.items[at].likeness(item, occasion);
            if likest.is_none_or(|(_, best)| likeness > best) {
                likest = Some((at, likeness));
            }
        }
        likest.filter(|(_, likeness)| *likeness > Likeness::Stranger)
    }

    pub(super) fn item_ends(
        &mut self,
        at: usize,
        item: &Item,
        status: &str,
        heard: Option<&Heard<'_>>,
    ) {
        if self.items[at].is_open() {
            self.items[at].done(item, status, heard, &mut self.emitter);
            self.note_other_id(at, item);
        }
    }

    pub(super) fn announce(&mut self, item: &Item, heard: Option<&Heard<'_>>) -> Route {
        self.tell_preface();
        let names = self.identity.assign(item);
        let at = self.items.len();
        let output = OutputItem::announce(item, names, at, heard, &mut self.emitter);
        self.items.push(output);
        Route::first(at)
    }

    /// An item that comes whole: its entire life at once.
    pub(super) fn whole(&mut self, item: &Item, status: &str) -> Route {
        let route = self.announce(item, None);
        self.items[route.at].done(item, status, None, &mut self.emitter);
        route
    }

    fn note_other_id(&mut self, at: usize, item: &Item) {
        let known = &self.items[at];
        if known.given().head().id != item.head().id {
            self.identity.note_other_id(item, known.id().clone());
        }
    }
}

fn is_nameless_call(item: &Item) -> bool {
    let has_name = matches!(item.head().kind, Kind::FunctionCall | Kind::CustomToolCall);
    has_name && item.object().string("name").is_none_or(|name| name.is_empty())
}

/// The item of this kind that an event tells of, as it begins.
fn begun(kind: &Kind, heard: &Heard<'_>) -> Option<Item> {
    let mut item = Object::default();
    if let Some(id) = heard.item_id() {
        item.set("id", quote(&id));
    }
    item.set("type", quote(kind.as_str()));
    Item::parse(item.to_bytes()).ok()
}
