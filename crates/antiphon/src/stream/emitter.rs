//! Numbers events and puts them in line.

use std::borrow::Cow;
use std::collections::VecDeque;

use bytes::Bytes;

use super::fields::{Digits, Field, Fixes, is_one_line, object_of};
use super::form::Form;
use super::heard::Heard;
use super::obfuscation::Obfuscation;
use super::output_item::always_has_status;
use crate::item::{Item, ItemId, Kind};
use crate::json::quote;

/// One event for the client: its `type` and its JSON, which names the type too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The event's type.
    pub kind: Cow<'static, str>,
    /// The event as JSON, in one line.
    pub data: Bytes,
}

impl Event {
    /// The event as it stands in an event stream: `event`, `data`, a blank line.
    pub fn to_sse(&self) -> Bytes {
        let mut text = Vec::with_capacity(self.kind.len() + self.data.len() + 16);
        text.extend_from_slice(b"event: ");
        text.extend_from_slice(self.kind.as_bytes());
        text.extend_from_slice(b"\ndata: ");
        text.extend_from_slice(&self.data);
        text.extend_from_slice(b"\n\n");
        text.into()
    }
}

pub(super) const NUMBER: &str = "sequence_number";

/// The only giver of sequence numbers: from 0, without gaps.
#[derive(Debug)]
pub(super) struct Emitter {
    sequence: u64,
    line: VecDeque<Event>,
    /// Whether the caller asked for encrypted reasoning.
    shows_encrypted: bool,
    pub(super) form: Form,
    pub(super) obfuscation: Obfuscation,
}

impl Emitter {
    pub(super) fn new(shows_encrypted: bool) -> Self {
        Self {
            sequence: 0,
            line: VecDeque::new(),
            shows_encrypted,
            form: Form::default(),
            obfuscation: Obfuscation::default(),
        }
    }

    pub(super) fn next(&mut self) -> Option<Event> {
        self.line.pop_front().map(|event| self.obfuscation.applied_to(event))
    }

    /// The same emitter behind `told` events that others have made.
    pub(super) fn behind(self, told: u64) -> Self {
        Self { sequence: told, ..self }
    }

    /// How many events were made so far.
    pub(super) fn told(&self) -> u64 {
        self.sequence
    }

    /// An event of our own.
    pub(super) fn emit(&mut self, kind: &'static str, fields: &[Field<'_>]) {
        let event = self.event(kind, fields);
        self.line.push_back(event);
    }

    /// Makes an event without putting it in line.
    pub(super) fn event(&mut self, kind: &'static str, fields: &[Field<'_>]) -> Event {
        let kind = self.form.own_name(kind);
        let (name, number) = (quote(kind), Digits::of(self.count()));
        let named = [("type", name.as_str()), (NUMBER, number.as_str())];
        let data = object_of(|| named.iter().chain(fields).copied());
        Event { kind: Cow::Borrowed(kind), data }
    }

    /// Passes an upstream's event on with these fields set: as the bytes that came where they and
    /// its number are right already, else with only those changed.
    pub(super) fn forward(&mut self, heard: &Heard<'_>, fixes: &Fixes<'_>) {
        let (number, mut fixes) = (Digits::of(self.count()), *fixes);
        fixes.add((NUMBER, number.as_str()));
        let shown = self.shown_otherwise(heard);
        if let Some(item) = shown.as_deref().filter(|_| !fixes.has("item")) {
            fixes.add(("item", item));
        }
        let name = self.form.name(heard);
        let type_field = quoted_if_other(&name, heard);
        if let Some(name) = &type_field {
            fixes.add(("type", name));
        }
        let as_it_came = heard.data.filter(|data| is_one_line(data));
        let data = match as_it_came.filter(|_| fixes.stand_in(heard.object)) {
            Some(data) => data.clone(),
            None => fixes.applied_to(heard.object),
        };
        self.line.push_back(Event { kind: name, data });
    }

    /// The item as this caller gets it. `status`: where it stands, if it does not say so itself. The
    /// Open Responses specification demands one of every item; providers leave it out of some.
    pub(super) fn show<'i>(&self, item: &'i Item, status: &str) -> Cow<'i, str> {
        let lacks_status =
            !always_has_status(&item.head().kind) && item.object().present("status").is_none();
        if !lacks_status && !self.hides_content(item) {
            return Cow::Borrowed(item.text());
        }
        let mut object = item.object();
        if lacks_status {
            object.set("status", quote(status));
        }
        if self.hides_content(item) {
            object.remove("encrypted_content");
        }
        Cow::Owned(object.to_text())
    }

    /// Whether the item is encrypted reasoning, which callers have to ask for.
    fn hides_content(&self, item: &Item) -> bool {
        let head = item.head();
        !self.shows_encrypted && head.encrypted && head.kind == Kind::Reasoning
    }

    /// The item that an event carries, where this caller does not get it as it came.
    fn shown_otherwise(&self, heard: &Heard<'_>) -> Option<String> {
        let item = heard.item().filter(|item| self.hides_content(item))?;
        let mut object = item.object();
        object.remove("encrypted_content");
        Some(object.to_text())
    }

    fn count(&mut self) -> u64 {
        let number = self.sequence;
        self.sequence += 1;
        number
    }
}

/// The event's `type` where it is told under another than it came with.
fn quoted_if_other(name: &str, heard: &Heard<'_>) -> Option<String> {
    (name != heard.kind).then(|| quote(name))
}

/// What an item's events name it by, as raw values.
#[derive(Debug)]
pub(super) struct Place {
    item_id: String,
    output_index: String,
}

impl Place {
    pub(super) fn new(id: &ItemId, index: usize) -> Self {
        Self { item_id: quote(id.as_str()), output_index: index.to_string() }
    }
}

/// Emits the events of one item.
pub(super) struct ItemEmitter<'a> {
    pub(super) place: &'a Place,
    pub(super) emitter: &'a mut Emitter,
}

impl ItemEmitter<'_> {
    /// An event of our own within the item.
    pub(super) fn emit(&mut self, kind: &'static str, fields: &[Field<'_>]) {
        let Place { item_id, output_index } = self.place;
        let place = [("item_id", item_id.as_str()), ("output_index", output_index.as_str())];
        self.emitter.emit(kind, &[&place, fields].concat());
    }

    /// Passes on an upstream's event within the item, with these fields set besides its place.
    pub(super) fn pass(&mut self, heard: &Heard<'_>, fields: &[Field<'_>]) {
        let names_item = heard.meaning.is_of_an_item() || heard.object.get("item_id").is_some();
        let lacks_logprobs = heard.meaning.text().is_some_and(|text| text.has_logprobs)
            && heard.object.present("logprobs").is_none();
        let mut fixes = Fixes::from([("output_index", self.place.output_index.as_str())]);
        if names_item {
            fixes.add(("item_id", &self.place.item_id));
        }
        if lacks_logprobs {
            fixes.add(("logprobs", "[]"));
        }
        for field in fields {
            fixes.add(*field);
        }
        self.emitter.forward(heard, &fixes);
    }

    /// The event that announces the item, or that ends it; the upstream's where there is one.
    /// `status`: where the item stands with it.
    pub(super) fn item(
        &mut self,
        kind: &'static str,
        item: &Item,
        status: &str,
        heard: Option<&Heard<'_>>,
    ) {
        let shown = self.emitter.show(item, status);
        let fields = [("output_index", self.place.output_index.as_str()), ("item", &*shown)];
        match heard.filter(|heard| heard.kind == kind) {
            Some(heard) => self.emitter.forward(heard, &fields.into()),
            None => self.emitter.emit(kind, &fields),
        }
    }
}
