//! One output item, from its announcement to its end.

mod given;
mod likeness;
mod part;
mod parts;
mod shape;
mod text;
mod told;

use std::borrow::Cow;

use self::given::Given;
pub(super) use self::likeness::{Likeness, Occasion, call_of};
use self::shape::Names;
pub(super) use self::shape::always_has_status;
use self::told::Told;
use super::emitter::{Emitter, ItemEmitter, Place};
use super::heard::Heard;
use crate::item::{CallId, Item, ItemId, Kind};

/// One item of the output. Its names and index never change.
///
/// ```text
///   announce ──> Open ── hear (parts, texts) ──> Open
///                  ├── done ───> Ended
///                  └── close ──> Ended
/// ```
///
/// Guarantees, whatever the upstream tells of it and what not: one `output_item.added`, with
/// nothing said yet; then its parts, each opened, told and closed; then one `output_item.done`.
#[derive(Debug)]
pub(super) struct OutputItem {
    /// As the upstream announced it.
    given: Item,
    names: Names,
    /// As clients were told of it first.
    announced: Item,
    place: Place,
    /// How often the upstream has announced it.
    announcements: u32,
    /// Which of its announcements tells of it: the first that says anything.
    voice: Option<u32>,
    state: State,
}

#[derive(Debug)]
enum State {
    Open(Told),
    Ended {
        item: Item,
        /// Whether it came to its end, rather than was cut short.
        is_whole: bool,
    },
}

impl OutputItem {
    /// Announces an item under these names: its first and only `output_item.added`.
    pub(super) fn announce(
        given: &Item,
        names: (ItemId, Option<CallId>),
        index: usize,
        heard: Option<&Heard<'_>>,
        emitter: &mut Emitter,
    ) -> Self {
        let names = Names::new(given, names.0, names.1);
        let announced = shape::announced(given, &names);
        let place = Place::new(&names.id, index);
        let mut out = ItemEmitter { place: &place, emitter };
        out.item("response.output_item.added", &announced, "in_progress", heard);
        Self {
            given: given.clone(),
            names,
            announced,
            place,
            announcements: 1,
            voice: None,
            state: State::Open(Told::nothing(&given.head().kind)),
        }
    }

    /// The upstream announces it once more, which clients are not told. Which announcement it is,
    /// from 0.
    pub(super) fn announce_again(&mut self) -> u32 {
        self.announcements += 1;
        self.announcements - 1
    }

    pub(super) fn id(&self) -> &ItemId {
        &self.names.id
    }

    /// The raw `call_id` that clients know it by, if it carries one.
    pub(super) fn call_id(&self) -> Option<&str> {
        self.names.call_id.as_deref()
    }

    /// The item as the upstream announced it.
    pub(super) fn given(&self) -> &Item {
        &self.given
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Whether it is open and has said nothing.
    pub(super) fn is_silent(&self) -> bool {
        matches!(&self.state, State::Open(told) if told.is_silent())
    }

    /// The item as it stands: as announced while it is open, else as it ended.
    pub(super) fn item(&self) -> &Item {
        match &self.state {
            State::Open(_) => &self.announced,
            State::Ended { item, .. } => item,
        }
    }

    /// About how many bytes are kept of it.
    pub(super) fn length(&self) -> usize {
        let told = match &self.state {
            State::Open(told) => told.length(),
            State::Ended { item, .. } => item.raw().len(),
        };
        self.given.raw().len() + told
    }

    /// Whether this announcement is the one that tells of the item, or may still become it.
    pub(super) fn listens_to(&self, announcement: u32) -> bool {
        self.voice.is_none_or(|voice| voice == announcement)
    }

    /// Takes an event that belongs to the item by its announcement of this number. Nothing belongs
    /// to an item that has ended, and only one of its announcements is listened to.
    pub(super) fn hear(&mut self, heard: &Heard<'_>, announcement: u32, emitter: &mut Emitter) {
        let State::Open(told) = &mut self.state else {
            return;
        };
        if self.voice.is_none_or(|voice| voice == announcement) {
            self.voice = Some(announcement);
            let place = &self.place;
            told.hear(heard, &mut ItemEmitter { place, emitter });
        }
    }

    /// The item as this caller gets it.
    pub(super) fn shown(&self, emitter: &Emitter) -> Cow<'_, str> {
        emitter.show(self.item(), self.status())
    }

    /// Where it stands, for an item that does not say so itself.
    pub(super) fn status(&self) -> &'static str {
        match self.state {
            State::Open(_) => "in_progress",
            State::Ended { is_whole: true, .. } => "completed",
            State::Ended { is_whole: false, .. } => "incomplete",
        }
    }

    /// Ends the item with what the upstream says it came to. `status`: its status where the
    /// upstream gives none that ends it.
    pub(super) fn done(
        &mut self,
        item: &Item,
        status: &str,
        heard: Option<&Heard<'_>>,
        emitter: &mut Emitter,
    ) {
        let item = shape::ended(item, &self.names, status);
        let is_whole = !item.head().unfinished;
        self.end(item, is_whole, heard, emitter);
    }

    /// Ends an open item with what it has said so far: that was all of it (`completed`), or it was
    /// cut short (`incomplete`).
    pub(super) fn close(&mut self, status: &str, emitter: &mut Emitter) {
        if !self.is_open() {
            return;
        }
        let given = self.given.with(|item| {
            if item.present("status").is_some() {
                item.set_string("status", status);
            }
        });
        let item = shape::ended(&given, &self.names, status);
        self.end(item, status == "completed", None, emitter);
    }

    fn end(
        &mut self,
        item: Item,
        is_whole: bool,
        heard: Option<&Heard<'_>>,
        emitter: &mut Emitter,
    ) {
        let State::Open(told) = &mut self.state else {
            return;
        };
        let place = &self.place;
        let mut out = ItemEmitter { place, emitter };
        let item = told.end(item, &mut out);
        let status = if is_whole { "completed" } else { "incomplete" };
        out.item("response.output_item.done", &item, status, heard);
        self.state = State::Ended { item, is_whole };
    }

    /// What stays of the item in a transcript: of a finished one all, and of one that was cut short
    /// a message that has begun to speak.
    pub(super) fn remains(&self) -> Option<&Item> {
        match &self.state {
            State::Open(_) => None,
            State::Ended { item, is_whole } => {
                let stays = *is_whole || item.head().kind == Kind::Message && speaks(item);
                stays.then_some(item)
            }
        }
    }
}

/// Whether anything is said in a message.
fn speaks(message: &Item) -> bool {
    let message = message.object();
    Given::list(message.get("content"), &Kind::Message).iter().any(Given::speaks)
}
