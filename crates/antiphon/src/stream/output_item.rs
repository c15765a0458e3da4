//! One output item, from its announcement to its end.

use super::emitter::{Emitter, Place};
use super::partial::Partial;
use super::whole;
use crate::item::{CallId, Item, ItemId, Kind};
use crate::json::Object;
use bytes::Bytes;

/// One item of the output. Its id and index never change.
///
/// ```text
///   announce ──> Open ── hear (parts, deltas) ──┐
///                 │  ^                          │
///                 │  └──────────────────────────┘
///                 ├── done ──> Done
///                 └── close ─> Done, or Cut where it was not to be the end
/// ```
#[derive(Debug)]
pub(super) struct OutputItem {
    id: ItemId,
    /// Set where the upstream's `call_id` could not be kept.
    call_id: Option<CallId>,
    index: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    Open(Partial),
    Done(Item),
    /// Closed because nothing more came.
    Cut(Item),
}

/// How items are shown to the caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Showing {
    /// Whether the caller asked for encrypted reasoning.
    pub(super) encrypted: bool,
}

impl OutputItem {
    /// Announces an item: its first and only `output_item.added`.
    pub(super) fn announce(
        item: &Item,
        id: ItemId,
        call_id: Option<CallId>,
        index: usize,
        emitter: &mut Emitter,
        showing: Showing,
    ) -> Self {
        let announced = identified(item, &id, call_id.as_ref());
        emit_item(
            "response.output_item.added",
            &announced,
            index,
            emitter,
            showing,
        );
        Self {
            id,
            call_id,
            index,
            state: State::Open(Partial::new(announced)),
        }
    }

    /// An item that comes whole: its entire life at once.
    pub(super) fn whole(
        item: &Item,
        id: ItemId,
        call_id: Option<CallId>,
        index: usize,
        emitter: &mut Emitter,
        showing: Showing,
    ) -> Self {
        let announced = whole::announced(item);
        let mut output = Self::announce(&announced, id, call_id, index, emitter, showing);
        whole::emit_parts(item, output.place(), emitter);
        output.done(item, emitter, showing);
        output
    }

    pub(super) fn id(&self) -> &ItemId {
        &self.id
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// The item as it stands: as announced while it is open, else as it ended.
    pub(super) fn item(&self) -> &Item {
        match &self.state {
            State::Open(partial) => partial.announced(),
            State::Done(item) | State::Cut(item) => item,
        }
    }

    /// Passes on an event that belongs to the item. Nothing belongs to an item that is done.
    pub(super) fn hear(
        &mut self,
        kind: &str,
        data: &Bytes,
        event: &Object<'_>,
        emitter: &mut Emitter,
    ) {
        if let State::Open(partial) = &mut self.state {
            partial.hear(kind, event);
            let place = Place {
                item_id: self.id.as_str(),
                output_index: self.index,
            };
            emitter.forward(kind, data, event, Some(place));
        }
    }

    /// Ends the item with what the upstream says it came to.
    pub(super) fn done(&mut self, item: &Item, emitter: &mut Emitter, showing: Showing) {
        if self.is_open() {
            let item = with_status(identified(item, &self.id, self.call_id.as_ref()));
            emit_item(
                "response.output_item.done",
                &item,
                self.index,
                emitter,
                showing,
            );
            self.state = State::Done(item);
        }
    }

    /// Ends an open item with what it has said so far: that was all of it (`completed`), or it was
    /// cut short.
    pub(super) fn close(&mut self, completed: bool, emitter: &mut Emitter, showing: Showing) {
        if let State::Open(partial) = &self.state {
            let item = partial.close(if completed { "completed" } else { "incomplete" });
            emit_item(
                "response.output_item.done",
                &item,
                self.index,
                emitter,
                showing,
            );
            self.state = if completed {
                State::Done(item)
            } else {
                State::Cut(item)
            };
        }
    }

    /// What stays of the item in a transcript: a finished one whole, and of one that was cut short
    /// a message that has begun to speak.
    pub(super) fn remains(&self) -> Option<Item> {
        let cut = match &self.state {
            State::Done(item) => return Some(item.clone()),
            State::Cut(item) => item.clone(),
            State::Open(partial) if partial.is_empty() => return None,
            State::Open(partial) => partial.close("incomplete"),
        };
        let speaks = || {
            cut.object()
                .get("content")
                .is_some_and(|content| content != "[]")
        };
        (cut.head().kind == Kind::Message && speaks()).then_some(cut)
    }

    fn place(&self) -> Place<'_> {
        Place {
            item_id: self.id.as_str(),
            output_index: self.index,
        }
    }
}

impl Showing {
    /// The item as this caller gets it.
    pub(super) fn show(self, item: &Item) -> String {
        if self.encrypted || !item.head().encrypted || item.head().kind != Kind::Reasoning {
            return item.text().to_owned();
        }
        let mut object = item.object();
        object.remove("encrypted_content");
        object.to_text()
    }
}

fn emit_item(
    kind: &'static str,
    item: &Item,
    index: usize,
    emitter: &mut Emitter,
    showing: Showing,
) {
    let shown = showing.show(item).replace(['\n', '\r'], " ");
    emitter.emit(
        kind,
        &[("output_index", &index.to_string()), ("item", &shown)],
    );
}

/// The item under the id and `call_id` that clients know it by.
fn identified(item: &Item, id: &ItemId, call_id: Option<&CallId>) -> Item {
    let other_call = call_id.filter(|call_id| item.head().call_id.as_ref() != Some(call_id));
    if item.head().id.as_ref() == Some(id) && other_call.is_none() {
        return item.clone();
    }
    item.with(|object| {
        object.set_string("id", id.as_str());
        if let Some(call_id) = other_call {
            object.set_string("call_id", call_id.as_str());
        }
    })
}

/// Messages and calls carry a status; an upstream that leaves it out has completed them.
fn with_status(item: Item) -> Item {
    let head = item.head();
    let carries = head.kind == Kind::Message || head.kind.output().is_some();
    if !carries || item.object().present("status").is_some() {
        return item;
    }
    item.with(|object| object.set_string("status", "completed"))
}
