//! Names and numbers events, and queues them for the client.

use std::borrow::Cow;
use std::collections::VecDeque;

use bytes::Bytes;

use super::envelope::Envelope;
use super::fields::{Digits, Field, Fixes, is_one_line, object_of};
use super::obfuscation::Obfuscation;
use super::output_item::always_has_status;
use super::upstream_event::UpstreamEvent;
use crate::item::{Item, ItemId, Kind};
use crate::json::quote;

/// One event for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The event's type. Empty in a dialect whose events have none.
    pub kind: Cow<'static, str>,
    /// The event as JSON, its `type` included, in one line.
    pub data: Bytes,
}

impl Event {
    /// Encodes the event for an event stream: `event` if it has a type, `data`, a blank line.
    pub fn to_sse(&self) -> Bytes {
        let mut text = Vec::with_capacity(self.kind.len() + self.data.len() + 16);
        if !self.kind.is_empty() {
            text.extend_from_slice(b"event: ");
            text.extend_from_slice(self.kind.as_bytes());
            text.push(b'\n');
        }
        text.extend_from_slice(b"data: ");
        text.extend_from_slice(&self.data);
        text.extend_from_slice(b"\n\n");
        text.into()
    }
}

pub(super) const NUMBER: &str = "sequence_number";

/// Assigns the sequence numbers: from 0, without gaps.
#[derive(Debug)]
pub(super) struct Emitter {
    sequence: u64,
    queue: VecDeque<Event>,
    /// Whether no events are created, because nobody reads them. The count then only shows that
    /// there was output.
    pub(super) is_silent: bool,
    /// Whether the request asked for encrypted reasoning.
    shows_encrypted: bool,
    /// Whether the client gets the server's own form of items and names of events.
    pub(super) keeps_form: bool,
    pub(super) form: Form,
    pub(super) obfuscation: Obfuscation,
}

impl Emitter {
    pub(super) fn new(shows_encrypted: bool) -> Self {
        Self {
            sequence: 0,
            queue: VecDeque::new(),
            is_silent: false,
            shows_encrypted,
            keeps_form: false,
            form: Form::default(),
            obfuscation: Obfuscation::default(),
        }
    }

    pub(super) fn next(&mut self) -> Option<Event> {
        self.queue.pop_front().map(|event| self.obfuscation.apply_to(event))
    }

    pub(super) fn take_all(&mut self) -> Vec<Event> {
        let events = Vec::from(std::mem::take(&mut self.queue));
        events.into_iter().map(|event| self.obfuscation.apply_to(event)).collect()
    }

    /// Continues after `emitted` events of an earlier emitter.
    pub(super) fn starting_at(self, emitted: u64) -> Self {
        Self { sequence: emitted, ..self }
    }

    /// Number of events created so far, those of earlier emitters included.
    pub(super) fn emitted(&self) -> u64 {
        self.sequence
    }

    /// Queues an event of our own.
    pub(super) fn emit(&mut self, kind: &'static str, fields: &[Field<'_>]) {
        if self.is_silent {
            self.count();
            return;
        }
        let event = self.event(kind, fields);
        self.queue.push_back(event);
    }

    /// Creates an event without queueing it.
    pub(super) fn event(&mut self, kind: &'static str, fields: &[Field<'_>]) -> Event {
        let kind = self.form.own_name(kind);
        let (name, number) = (quote(kind), Digits::new(self.count()));
        let named = [("type", name.as_str()), (NUMBER, number.as_str())];
        let data = object_of(|| named.iter().chain(fields).copied());
        Event { kind: Cow::Borrowed(kind), data }
    }

    /// Forwards an upstream's event with these fields set. If they and its number are already
    /// correct, the upstream's bytes are forwarded.
    pub(super) fn forward(&mut self, event: &UpstreamEvent<'_>, fixes: &Fixes<'_>) {
        let (number, mut fixes) = (Digits::new(self.count()), *fixes);
        fixes.add((NUMBER, number.as_str()));
        if self.keeps_form && NAMES.iter().any(|(_, name)| *name == event.kind) {
            self.form = Form::OpenResponses;
        }
        if self.is_silent {
            return;
        }
        let rendered = self.without_hidden_content(event);
        if let Some(item) = rendered.as_deref().filter(|_| !fixes.has("item")) {
            fixes.add(("item", item));
        }
        let name = self.form.name(event);
        let type_field = changed_type(&name, event);
        if let Some(name) = &type_field {
            fixes.add(("type", name));
        }
        let as_it_came = event.data.filter(|data| is_one_line(data));
        let data = match as_it_came.filter(|_| fixes.are_set_in(event.object)) {
            Some(data) => data.clone(),
            None => fixes.apply_to(event.object),
        };
        self.queue.push_back(Event { kind: name, data });
    }

    /// The item as this client gets it. `status` is for an item without a `status` field: the Open
    /// Responses specification requires one on every item, and providers omit it on some.
    pub(super) fn render<'i>(&self, item: &'i Item, status: &str) -> Cow<'i, str> {
        let lacks_status = !self.keeps_form
            && !always_has_status(&item.head().kind)
            && item.object().present("status").is_none();
        if !lacks_status && !self.hides_encrypted(item) {
            return Cow::Borrowed(item.text());
        }
        let mut object = item.object();
        if lacks_status {
            object.set("status", quote(status));
        }
        if self.hides_encrypted(item) {
            object.remove("encrypted_content");
        }
        Cow::Owned(object.to_text())
    }

    /// Whether the item has encrypted reasoning that the request did not ask for.
    fn hides_encrypted(&self, item: &Item) -> bool {
        let head = item.head();
        !self.shows_encrypted && head.encrypted && head.kind == Kind::Reasoning
    }

    /// The event's item without its encrypted content, if this client must not get that.
    fn without_hidden_content(&self, event: &UpstreamEvent<'_>) -> Option<String> {
        let item = event.item().filter(|item| self.hides_encrypted(item))?;
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

/// The event's new `type` if it differs from the upstream's.
fn changed_type(name: &str, event: &UpstreamEvent<'_>) -> Option<String> {
    (name != event.kind).then(|| quote(name))
}

/// The names of an item in its events, as raw values.
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
    /// Emits an event of our own about the item.
    pub(super) fn emit(&mut self, kind: &'static str, fields: &[Field<'_>]) {
        if self.emitter.is_silent {
            return self.emitter.emit(kind, &[]);
        }
        let Place { item_id, output_index } = self.place;
        let place = [("item_id", item_id.as_str()), ("output_index", output_index.as_str())];
        self.emitter.emit(kind, &[&place, fields].concat());
    }

    /// Forwards an upstream's event about the item, with its names and these fields set.
    pub(super) fn forward(&mut self, event: &UpstreamEvent<'_>, fields: &[Field<'_>]) {
        let names_item = event.meaning.belongs_to_item() || event.object.get("item_id").is_some();
        let lacks_logprobs = event.meaning.text().is_some_and(|text| text.has_logprobs)
            && event.object.present("logprobs").is_none();
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
        self.emitter.forward(event, &fixes);
    }

    /// Emits the event that announces or ends the item: the upstream's, if it has the same type.
    /// `status` is for an item without a `status` field.
    pub(super) fn item(
        &mut self,
        kind: &'static str,
        item: &Item,
        status: &str,
        event: Option<&UpstreamEvent<'_>>,
    ) {
        if self.emitter.is_silent {
            return self.emitter.emit(kind, &[]);
        }
        let rendered = self.emitter.render(item, status);
        let fields = [("output_index", self.place.output_index.as_str()), ("item", &*rendered)];
        match event.filter(|event| event.kind == kind) {
            Some(event) => self.emitter.forward(event, &fields.into()),
            None => self.emitter.emit(kind, &fields),
        }
    }
}

/// The specification that names the events of a stream. OpenAI's Responses API calls the events of
/// a model's raw reasoning `response.reasoning_text.delta` and `.done`, Open Responses (2026-04-24)
/// calls them `response.reasoning.delta` and `.done`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The names of OpenAI's API.
    #[default]
    OpenAi,
    /// The names of the Open Responses specification.
    OpenResponses,
}

/// Event types: OpenAI's name and the name in Open Responses.
const NAMES: [(&str, &str); 2] = [
    ("response.reasoning_text.delta", "response.reasoning.delta"),
    ("response.reasoning_text.done", "response.reasoning.done"),
];

impl Form {
    /// The `type` of an upstream's event in this specification.
    pub(super) fn name(self, event: &UpstreamEvent<'_>) -> Cow<'static, str> {
        match event.name() {
            Cow::Borrowed(name) => Cow::Borrowed(self.own_name(name)),
            unknown @ Cow::Owned(_) => unknown,
        }
    }

    /// The `type` of an event of our own in this specification.
    pub(super) fn own_name(self, name: &'static str) -> &'static str {
        let pair = NAMES.iter().find(|pair| pair.0 == name || pair.1 == name);
        match (pair, self) {
            (None, _) => name,
            (Some((name, _)), Self::OpenAi) | (Some((_, name)), Self::OpenResponses) => name,
        }
    }
}

/// The initial events of a background response: it is created and queued, and later in progress.
pub(super) const INITIAL_EVENTS: [&str; 3] =
    ["response.created", "response.queued", "response.in_progress"];

/// Creates the first events of a background response, `response.created` and `response.queued`,
/// both with the status `queued`.
///
/// Sources: the provider's guide to background responses; the Open Responses specification,
/// `ResponseQueuedStreamingEvent`.
pub fn queued(mut envelope: Envelope, form: Form) -> [Event; 2] {
    envelope.set("status", r#""queued""#);
    let response = envelope.render(std::iter::empty());
    let mut emitter = Emitter::new(false);
    emitter.form = form;
    ["response.created", "response.queued"]
        .map(|kind| emitter.event(kind, &[("response", &response)]))
}
