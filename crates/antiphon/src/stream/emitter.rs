//! Numbers events and puts them in line.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write;

use bytes::Bytes;

use super::heard::Heard;
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

/// A field of an event: its name and its raw value.
pub(super) type Field<'a> = (&'a str, &'a str);

/// The only giver of sequence numbers: from 0, without gaps.
#[derive(Debug)]
pub(super) struct Emitter {
    sequence: u64,
    line: VecDeque<Event>,
    /// Whether the caller asked for encrypted reasoning.
    shows_encrypted: bool,
}

impl Emitter {
    pub(super) fn new(shows_encrypted: bool) -> Self {
        Self { sequence: 0, line: VecDeque::new(), shows_encrypted }
    }

    pub(super) fn next(&mut self) -> Option<Event> {
        self.line.pop_front()
    }

    /// An event of our own.
    pub(super) fn emit(&mut self, kind: &'static str, fields: &[Field<'_>]) {
        let event = self.event(kind, fields);
        self.line.push_back(event);
    }

    /// Makes an event without putting it in line.
    pub(super) fn event(&mut self, kind: &'static str, fields: &[Field<'_>]) -> Event {
        let mut data = String::with_capacity(length(fields) + kind.len() + 48);
        data.push_str(r#"{"type":""#);
        data.push_str(kind);
        data.push_str(r#"","sequence_number":"#);
        push_number(&mut data, self.count());
        for (key, raw) in fields {
            push_key(&mut data, key);
            data.push_str(raw);
        }
        data.push('}');
        Event { kind: Cow::Borrowed(kind), data: in_one_line(data) }
    }

    /// Passes an upstream's event on with these fields set: as the bytes that came where they and
    /// its number are right already, else with only those changed.
    pub(super) fn forward<'f, F>(&mut self, heard: &Heard<'_>, fixes: F)
    where
        F: Iterator<Item = Field<'f>> + Clone,
    {
        let number = self.count();
        let stands = |(key, raw): Field<'_>| heard.object.get(key) == Some(raw);
        let fits = heard.number("sequence_number") == Some(number)
            && fixes.clone().all(stands)
            && is_one_line(heard.data);
        let data =
            if fits { heard.data.clone() } else { in_one_line(changed(heard, number, fixes)) };
        self.line.push_back(Event { kind: heard.name(), data });
    }

    /// The item as this caller gets it.
    pub(super) fn show<'i>(&self, item: &'i Item) -> Cow<'i, str> {
        let head = item.head();
        if self.shows_encrypted || !head.encrypted || head.kind != Kind::Reasoning {
            return Cow::Borrowed(item.text());
        }
        let mut object = item.object();
        object.remove("encrypted_content");
        Cow::Owned(object.to_text())
    }

    fn count(&mut self) -> u64 {
        let number = self.sequence;
        self.sequence += 1;
        number
    }
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
        let place = [
            Some(("output_index", self.place.output_index.as_str())),
            names_item.then_some(("item_id", self.place.item_id.as_str())),
            lacks_logprobs.then_some(("logprobs", "[]")),
        ];
        let place = place.iter().flatten();
        self.emitter.forward(heard, place.chain(fields).copied());
    }

    /// The event that announces the item, or that ends it; the upstream's where there is one.
    pub(super) fn item(&mut self, kind: &'static str, item: &Item, heard: Option<&Heard<'_>>) {
        let shown = self.emitter.show(item);
        let fields = [("output_index", self.place.output_index.as_str()), ("item", &*shown)];
        match heard.filter(|heard| heard.kind == kind) {
            Some(heard) => self.emitter.forward(heard, fields.into_iter()),
            None => self.emitter.emit(kind, &fields),
        }
    }
}

/// What was heard, with its number and these fields in the place of its own.
fn changed<'f>(
    heard: &Heard<'_>,
    number: u64,
    fixes: impl Iterator<Item = Field<'f>> + Clone,
) -> String {
    let added: usize = fixes.clone().map(|(key, raw)| key.len() + raw.len() + 4).sum();
    let mut data = String::with_capacity(heard.data.len() + added + 40);
    data.push('{');
    for (key, raw) in heard.object.iter() {
        push_key(&mut data, key);
        if key == "sequence_number" {
            push_number(&mut data, number);
        } else {
            let fixed = fixes.clone().find(|(name, _)| *name == key);
            data.push_str(fixed.map_or(raw, |(_, raw)| raw));
        }
    }
    if heard.object.get("sequence_number").is_none() {
        push_key(&mut data, "sequence_number");
        push_number(&mut data, number);
    }
    for (key, raw) in fixes.filter(|(key, _)| heard.object.get(key).is_none()) {
        push_key(&mut data, key);
        data.push_str(raw);
    }
    data.push('}');
    data
}

/// Appends a key to an object that is being written, with what stands before and behind it.
pub(super) fn push_key(data: &mut String, key: &str) {
    if !data.ends_with('{') {
        data.push(',');
    }
    if key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        data.push('"');
        data.push_str(key);
        data.push('"');
    } else {
        data.push_str(&quote(key));
    }
    data.push(':');
}

fn push_number(data: &mut String, number: u64) {
    write!(data, "{number}").expect("writing to a string does not fail");
}

fn length(fields: &[Field<'_>]) -> usize {
    fields.iter().map(|(key, raw)| key.len() + raw.len() + 4).sum()
}

fn is_one_line(data: &[u8]) -> bool {
    memchr::memchr2(b'\n', b'\r', data).is_none()
}

/// A value may hold line ends of its own; in JSON they stand only between tokens, where they mean
/// nothing, and an event stream would be cut by them.
fn in_one_line(json: String) -> Bytes {
    if is_one_line(json.as_bytes()) {
        return json.into();
    }
    json.replace(['\n', '\r'], " ").into()
}
