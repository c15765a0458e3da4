//! Shares long texts among the events of an answer that repeat them.
//!
//! The full text of a message is in four events: those of the text, its part, its item and the
//! response. If a client reads slowly, these events wait in memory. They share the bytes of the
//! item.

use std::borrow::Cow;

use antiphon::Item;
use antiphon::stream::{Event, Finished};
use bytes::Bytes;
use memchr::{memchr, memchr2, memmem};

use super::channel::OutgoingEvent;
use crate::chunks::Chunks;

/// The minimum length of a shared text.
const LONG: usize = 16 << 10;

/// How many texts are searched for in an event. Any others are copied.
const MAX_TEXTS: usize = 16;

/// The long strings of some items, in their JSON form.
#[derive(Default)]
pub(super) struct SharedTexts(Vec<Bytes>);

impl SharedTexts {
    /// Collects the texts of these items, if one of the events is long enough to repeat any.
    pub(super) fn from_events<'a>(events: &[Event], items: impl Iterator<Item = &'a Item>) -> Self {
        match events.iter().any(may_repeat) {
            true => Self::from_items(items),
            false => Self::default(),
        }
    }

    fn from_items<'a>(items: impl Iterator<Item = &'a Item>) -> Self {
        let mut texts: Vec<Bytes> = items.flat_map(|item| long_strings(item.raw())).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.truncate(MAX_TEXTS);
        Self(texts)
    }

    /// Replaces the texts in the event with shared ones, if it contains any.
    pub(super) fn share_in(&self, event: Event) -> OutgoingEvent {
        if self.0.is_empty() {
            return OutgoingEvent::Event(event);
        }
        let mut data = Chunks::default();
        match share(&self.0, &event.data, &mut data) {
            true => OutgoingEvent::Long(event.kind, data),
            false => OutgoingEvent::Event(event),
        }
    }

    /// Splits a text into chunks, shared ones if it contains any.
    fn split(&self, text: String) -> Chunks {
        if self.0.is_empty() {
            return text.into();
        }
        let mut chunks = Chunks::default();
        share(&self.0, text.as_bytes(), &mut chunks);
        chunks
    }
}

/// Whether the event is long enough to repeat a text. A delta never repeats one, however long.
fn may_repeat(event: &Event) -> bool {
    event.data.len() >= LONG && !event.kind.ends_with(".delta")
}

/// Copies `data` to `shared`, with slices of these texts if it contains them. Returns whether it
/// does.
fn share(texts: &[Bytes], data: &[u8], shared: &mut Chunks) -> bool {
    for (position, text) in texts.iter().enumerate() {
        if let Some(start) = memmem::find(data, text) {
            let (before, rest) = data.split_at(start);
            share(&texts[position + 1..], before, shared);
            shared.push(text.clone());
            share(&texts[position..], &rest[text.len()..], shared);
            return true;
        }
    }
    shared.push(Bytes::copy_from_slice(data));
    false
}

/// The end of a response, taken out of [`Finished`]. It shares the texts of the output, so that a
/// turn that waits for its commit or its client has them in memory once.
pub(super) struct SharedEnd {
    response: Chunks,
    event: OutgoingEvent,
}

impl SharedEnd {
    /// Takes the response and the event, and leaves them empty.
    pub(super) fn take_from(finished: &mut Finished) -> Self {
        let items = finished.output.iter().map(|output| &output.announced);
        let texts = SharedTexts::from_items(items);
        let response = texts.split(std::mem::take(&mut finished.response));
        let nothing = Event { kind: Cow::Borrowed(""), data: Bytes::new() };
        let event = texts.share_in(std::mem::replace(&mut finished.event, nothing));
        Self { response, event }
    }

    /// Puts the response and the event back.
    pub(super) fn put_back(self, finished: &mut Finished) {
        let response = String::from_utf8(self.response.to_bytes().into());
        finished.response = response.expect("the response was a string");
        finished.event =
            self.event.into_event().expect("the last event is not the end of the stream");
    }

    /// The response object.
    pub(super) fn into_response(self) -> Chunks {
        self.response
    }

    /// The last event.
    pub(super) fn into_event(self) -> OutgoingEvent {
        self.event
    }
}

/// The contents of the long strings of a JSON text, as slices of it.
fn long_strings(json: &Bytes) -> Vec<Bytes> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(quote) = memchr(b'"', &json[at..]) {
        let start = at + quote + 1;
        let end = end_of_string(json, start);
        if end - start >= LONG {
            found.push(json.slice(start..end));
        }
        at = (end + 1).min(json.len());
    }
    found
}

/// The end of the string whose content starts at `start`.
fn end_of_string(json: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = json.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        if json[at + found] == b'"' {
            return at + found;
        }
        at += found + 2;
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> Item {
        let raw = format!(r#"{{"type":"message","role":"assistant","content":"{text}"}}"#);
        Item::parse(raw.into()).unwrap()
    }

    fn event(data: String) -> Event {
        Event { kind: "e".into(), data: data.into() }
    }

    #[test]
    fn events_share_the_text_of_their_item() {
        let text = format!(r#"\"{}\\"#, "x".repeat(LONG));
        let item = item(&text);
        let written = format!(r#"{{"text":"{text}","again":"{text}"}}"#);
        let events = [event(written.clone())];
        let texts = SharedTexts::from_events(&events, std::iter::once(&item));

        let [event] = events;
        let OutgoingEvent::Long(_, data) = texts.share_in(event) else { panic!("it is long") };

        assert_eq!(data.to_bytes(), written);
        let raw = item.raw().as_ptr_range();
        let copied = data.iter().filter(|chunk| !raw.contains(&chunk.as_ptr()));
        assert!(copied.map(Bytes::len).sum::<usize>() < 100);
    }

    #[test]
    fn other_events_are_unchanged() {
        let item = item(&"x".repeat(LONG));
        for data in ["{}".to_owned(), format!("\"{}\"", "y".repeat(LONG))] {
            let event = event(data);
            let texts =
                SharedTexts::from_events(std::slice::from_ref(&event), std::iter::once(&item));
            assert_eq!(texts.share_in(event.clone()), OutgoingEvent::Event(event));
        }
    }
}
