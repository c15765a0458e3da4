//! The state of one output item, from its announcement to its end.

mod emitted_content;
mod part;
mod parts;
mod shape;
mod similarity;
mod text;
mod upstream_part;

use std::borrow::Cow;

use self::emitted_content::EmittedContent;
use self::shape::Names;
pub(super) use self::shape::always_has_status;
pub(super) use self::similarity::{MatchMode, Similarity, call_key};
use self::upstream_part::UpstreamPart;
use super::emitter::{Emitter, ItemEmitter, Place};
use super::upstream_event::UpstreamEvent;
use crate::item::{CallId, Item, ItemId, Kind};

/// One item of the output. Its names and its index never change.
///
/// ```text
///   announce ──> Open ── apply (parts, texts) ──> Open
///                  ├── done ───> Ended
///                  └── close ──> Ended
/// ```
///
/// Guarantees, for any upstream events: one `output_item.added` with an empty item; then the parts,
/// each with its own added and done events; then one `output_item.done`.
#[derive(Debug)]
pub(super) struct OutputItem {
    /// The upstream's announcement.
    upstream_item: Item,
    names: Names,
    /// The item of our `output_item.added`, if it has one.
    announced: Item,
    place: Place,
    /// Number of announcements by the upstream.
    announcements: u32,
    /// The announcement whose events count: the one of the first event of the item.
    active_announcement: Option<u32>,
    state: State,
}

#[derive(Debug)]
enum State {
    Open(EmittedContent),
    Ended {
        item: Item,
        /// Whether the item is complete, not cut short.
        is_whole: bool,
    },
}

impl OutputItem {
    /// Emits the one `output_item.added` of the item, with these names.
    pub(super) fn announce(
        upstream_item: &Item,
        names: (ItemId, Option<CallId>),
        index: usize,
        event: Option<&UpstreamEvent<'_>>,
        emitter: &mut Emitter,
    ) -> Self {
        let fields = upstream_item.object();
        let names = Names::new(&fields, names.0, names.1);
        let announced = shape::announced_item(upstream_item, fields, &names);
        let item = Self::open(upstream_item, names, announced, index);
        let mut out = ItemEmitter { place: &item.place, emitter };
        out.item("response.output_item.added", &item.announced, "in_progress", event);
        item
    }

    /// An item that arrives whole, for a client that reads no events. `status` is for an item
    /// without a final status of its own.
    pub(super) fn whole(
        upstream_item: &Item,
        names: (ItemId, Option<CallId>),
        index: usize,
        status: &str,
        emitter: &mut Emitter,
    ) -> Self {
        let fields = upstream_item.object();
        let names = Names::new(&fields, names.0, names.1);
        let ended = shape::ended_item(upstream_item, fields, &names, status);
        let mut item = Self::open(upstream_item, names, upstream_item.clone(), index);
        item.end_with(ended, None, emitter);
        item
    }

    /// An open item without content.
    fn open(upstream_item: &Item, names: Names, announced: Item, index: usize) -> Self {
        Self {
            upstream_item: upstream_item.clone(),
            place: Place::new(&names.id, index),
            names,
            announced,
            announcements: 1,
            active_announcement: None,
            state: State::Open(EmittedContent::new(&upstream_item.head().kind)),
        }
    }

    /// Counts a repeated announcement, which clients do not see. Returns its number, from 0.
    pub(super) fn announce_again(&mut self) -> u32 {
        self.announcements += 1;
        self.announcements - 1
    }

    pub(super) fn id(&self) -> &ItemId {
        &self.names.id
    }

    /// The raw `call_id` that clients get, if the item has one.
    pub(super) fn call_id(&self) -> Option<&str> {
        self.names.call_id.as_deref()
    }

    /// The upstream's announcement of the item.
    pub(super) fn upstream_item(&self) -> &Item {
        &self.upstream_item
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Whether it is open and still empty.
    pub(super) fn has_no_content(&self) -> bool {
        matches!(&self.state, State::Open(content) if content.has_no_content())
    }

    /// The item as announced while it is open; else its final version.
    pub(super) fn item(&self) -> &Item {
        match &self.state {
            State::Open(_) => &self.announced,
            State::Ended { item, .. } => item,
        }
    }

    /// Approximate number of bytes held in memory.
    pub(super) fn length(&self) -> usize {
        let content = match &self.state {
            State::Open(content) => content.length(),
            State::Ended { item, .. } => item.raw().len(),
        };
        self.upstream_item.raw().len() + content
    }

    /// Whether the events of this announcement count, or may count later.
    pub(super) fn accepts_announcement(&self, announcement: u32) -> bool {
        self.active_announcement.is_none_or(|active| active == announcement)
    }

    /// Applies an event of the item's announcement with this number. Events after the end are
    /// ignored, and only the events of one announcement count.
    pub(super) fn apply(
        &mut self,
        event: &UpstreamEvent<'_>,
        announcement: u32,
        emitter: &mut Emitter,
    ) {
        let State::Open(content) = &mut self.state else {
            return;
        };
        if self.active_announcement.is_none_or(|active| active == announcement) {
            self.active_announcement = Some(announcement);
            let place = &self.place;
            content.apply(event, &mut ItemEmitter { place, emitter });
        }
    }

    /// The item as this client gets it.
    pub(super) fn render(&self, emitter: &Emitter) -> Cow<'_, str> {
        emitter.render(self.item(), self.status())
    }

    /// The status, for an item without a `status` field.
    pub(super) fn status(&self) -> &'static str {
        match self.state {
            State::Open(_) => "in_progress",
            State::Ended { is_whole: true, .. } => "completed",
            State::Ended { is_whole: false, .. } => "incomplete",
        }
    }

    /// Ends the item with the upstream's final version. `status` is for an item without a final
    /// status of its own.
    pub(super) fn done(
        &mut self,
        item: &Item,
        status: &str,
        event: Option<&UpstreamEvent<'_>>,
        emitter: &mut Emitter,
    ) {
        let ended = shape::ended_item(item, item.object(), &self.names, status);
        self.end_with(ended, event, emitter);
    }

    /// Ends the item with this final version. Its status decides whether the item is whole.
    fn end_with(&mut self, item: Item, event: Option<&UpstreamEvent<'_>>, emitter: &mut Emitter) {
        let is_whole = !item.head().unfinished;
        self.end(item, is_whole, event, emitter);
    }

    /// Ends an open item with its content so far, as `completed` or `incomplete`.
    pub(super) fn close(&mut self, status: &str, emitter: &mut Emitter) {
        if !self.is_open() {
            return;
        }
        let upstream_item = self.upstream_item.with(|item| {
            if item.present("status").is_some() {
                item.set_string("status", status);
            }
        });
        let item = shape::ended_item(&upstream_item, upstream_item.object(), &self.names, status);
        self.end(item, status == "completed", None, emitter);
    }

    fn end(
        &mut self,
        item: Item,
        is_whole: bool,
        event: Option<&UpstreamEvent<'_>>,
        emitter: &mut Emitter,
    ) {
        let State::Open(content) = &mut self.state else {
            return;
        };
        let place = &self.place;
        let mut out = ItemEmitter { place, emitter };
        let item = content.end(item, &mut out);
        let status = if is_whole { "completed" } else { "incomplete" };
        out.item("response.output_item.done", &item, status, event);
        self.state = State::Ended { item, is_whole };
    }

    /// The item to store after a response that did not end well: a complete item, or an unfinished
    /// message with some content.
    pub(super) fn retained(&self) -> Option<&Item> {
        match &self.state {
            State::Open(_) => None,
            State::Ended { item, is_whole } => {
                let stays = *is_whole || item.head().kind == Kind::Message && has_content(item);
                stays.then_some(item)
            }
        }
    }
}

/// Whether a message has any content.
fn has_content(message: &Item) -> bool {
    let message = message.object();
    UpstreamPart::list(message.get("content"), &Kind::Message).iter().any(UpstreamPart::has_content)
}
