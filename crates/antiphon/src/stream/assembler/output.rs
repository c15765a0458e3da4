//! Turns the upstream's items into output items.

use std::borrow::Cow;

use bytes::Bytes;

use super::identity::Identity;
use super::note::{Note, Notes};
use super::output_items::OutputItems;
use super::permission::CallFilter;
use super::preface::Preface;
use super::routes::Route;
use crate::item::{CallId, Item, ItemId, Kind, Tool};
use crate::json::{Object, quote};
use crate::stream::emitter::Emitter;
use crate::stream::fields::Fixes;
use crate::stream::output_item::{OutputItem, Similarity};
use crate::stream::upstream_event::UpstreamEvent;
use crate::stream::vocabulary::holds_parts;

/// Maximum number of events that wait for the announcement of their item. Servers that send events
/// too early send only a few.
const MAX_EARLY: usize = 256;

/// The output of a response that is in progress. It creates the items, and emits their events.
pub(super) struct OutputBuilder {
    pub(super) emitter: Emitter,
    pub(super) identity: Identity,
    pub(super) items: OutputItems,
    pub(super) calls: CallFilter,
    pub(super) preface: Option<Box<Preface>>,
    pub(super) notes: Notes,
    /// Events that arrived before the announcement of their item.
    early: Vec<Bytes>,
}

impl OutputBuilder {
    pub(super) fn new(emitter: Emitter, identity: Identity) -> Self {
        Self {
            emitter,
            identity,
            items: OutputItems::default(),
            calls: CallFilter::default(),
            preface: None,
            notes: Notes::default(),
            early: Vec::new(),
        }
    }

    /// Applies an event of an item, or forwards an event of the whole response.
    pub(super) fn apply(&mut self, event: &UpstreamEvent<'_>) {
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
        if self.calls.suppresses(&item, Some(event), &mut self.notes) {
            return;
        }
        let index = event.index();
        let route = match self.items.find_announced(index, &item) {
            Some(at) => self.items.announce_again(index, at),
            None if self.suppresses_extra(&item, Some(event)) => return,
            None => self.announce(&item, Some(event)),
        };
        self.items.routes.add(index, &item, route);
        self.apply_early();
    }

    /// Applies the waiting events again: one of their items may be announced now.
    fn apply_early(&mut self) {
        for event in std::mem::take(&mut self.early) {
            let object = Object::parse(&event).expect("it was read before it was kept");
            let kind = object.string("type").expect("it had a type");
            self.apply(&UpstreamEvent::new(&kind, &event, &object));
        }
    }

    fn apply_item_done(&mut self, event: &UpstreamEvent<'_>) {
        let Some(item) = event.item() else { return };
        if self.calls.suppresses(&item, Some(event), &mut self.notes) {
            return;
        }
        let index = event.index();
        match self.items.find_done(index, &item) {
            Some((at, _)) if self.items[at].is_open() => {
                self.finish_item(at, &item, "completed", Some(event));
            }
            Some((at, Similarity::SameContent | Similarity::Identical)) => {
                self.note_other_id(at, &item);
            }
            _ if self.suppresses_extra(&item, Some(event)) => {}
            _ => {
                let route = self.emit_whole_item(&item, "completed");
                self.items.routes.add(index, &item, route);
                self.apply_early();
            }
        }
    }

    fn apply_within_item(&mut self, event: &UpstreamEvent<'_>) {
        if let Some(Route { at, announcement }) = self.items.route(event) {
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
        if self.calls.has_suppressed(event) {
            return;
        }
        let index = event.index();
        let known = self.items.routes.by_index(index);
        let is_used = known.is_some_and(|route| !self.items[route.at].is_open());
        let item_kind = event.item_kind().filter(|kind| holds_parts(kind) && !is_used);
        if let Some(item) = item_kind.and_then(|kind| new_item(kind, event)) {
            let route = self.announce(&item, None);
            self.items.routes.add(index, &item, route);
            self.items[route.at].apply(event, route.announcement, &mut self.emitter);
        } else if event.meaning.belongs_to_item() && self.early.len() < MAX_EARLY {
            self.early.push(event.bytes());
        }
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
        let (names, index) = self.next_place(item);
        self.items.push(OutputItem::announce(item, names, index, event, &mut self.emitter))
    }

    /// The names and the index of the next item. Emits the preface before it.
    fn next_place(&mut self, item: &Item) -> ((ItemId, Option<CallId>), usize) {
        self.emit_preface();
        (self.identity.assign(item, &mut self.notes), self.items.len())
    }

    /// Announces an item that is always new.
    pub(super) fn announce_other(&mut self, item: &Item, event: &UpstreamEvent<'_>) {
        if !self.calls.suppresses(item, Some(event), &mut self.notes)
            && !self.suppresses_extra(item, Some(event))
        {
            let route = self.announce(item, None);
            self.items.routes.add(event.index(), item, route);
        }
    }

    /// Emits the item that precedes the upstream's output, once.
    pub(super) fn emit_preface(&mut self) {
        if let Some(item) = self.preface.as_mut().and_then(|preface| preface.take_item()) {
            self.emit_whole_item(&item, "completed");
        }
    }

    /// Adds an item that arrives whole. Emits all its events, if the client reads events.
    pub(super) fn emit_whole_item(&mut self, item: &Item, status: &str) -> Route {
        if self.emitter.is_silent {
            let (names, index) = self.next_place(item);
            let whole = OutputItem::whole(item, names, index, status, &mut self.emitter);
            return self.items.push(whole);
        }
        let route = self.announce(item, None);
        self.items[route.at].done(item, status, None, &mut self.emitter);
        route
    }

    /// Whether the item, which is new, exceeds the number of calls that the request allows.
    pub(super) fn suppresses_extra(
        &mut self,
        item: &Item,
        event: Option<&UpstreamEvent<'_>>,
    ) -> bool {
        let others = self.items.iter().map(OutputItem::upstream_item);
        self.calls.suppresses_extra(item, others, event, &mut self.notes)
    }

    /// Notes that the upstream changed an item's id after the announcement.
    fn note_other_id(&mut self, at: usize, item: &Item) {
        let known = &self.items[at];
        let from = item.head().id.clone();
        if from.is_some() && from != known.upstream_item().head().id {
            self.notes.push(Note::ItemIdReplaced { from, to: known.id().clone() });
        }
    }

    /// Ends the item at the upstream's index with its content so far.
    pub(super) fn close_item(&mut self, index: u64) {
        if let Some(route) = self.items.routes.by_index(Some(index)) {
            self.items[route.at].close("completed", &mut self.emitter);
        }
    }

    /// Ends the open items.
    pub(super) fn close(&mut self, status: &str) {
        for item in self.items.iter_mut() {
            item.close(status, &mut self.emitter);
        }
    }

    /// Notes a missing call if the request requires one.
    pub(super) fn note_missing_call(&mut self) {
        if let Some(note) = self.calls.missing_call(self.items.iter().map(OutputItem::item)) {
            self.notes.push(note);
        }
    }

    /// The items as this client gets them.
    pub(super) fn render(&self) -> Vec<Cow<'_, str>> {
        self.items.iter().map(|item| item.render(&self.emitter)).collect()
    }

    /// Approximate number of bytes held in memory: items, and events that wait for their item.
    pub(super) fn length(&self) -> usize {
        let items: usize = self.items.iter().map(OutputItem::length).sum();
        let early: usize = self.early.iter().map(Bytes::len).sum();
        items + early
    }

    /// Drops the items, without an event.
    pub(super) fn discard(&mut self) {
        self.items = OutputItems::default();
        self.early.clear();
    }

    /// Forgets the upstream's events, of which none was emitted.
    pub(super) fn reset(&mut self) {
        self.discard();
        self.calls.reset();
        self.notes.clear();
        self.identity.expects_ids = true;
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
