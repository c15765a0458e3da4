//! Numbers events and puts them in line.

use std::borrow::Cow;
use std::collections::VecDeque;

use bytes::Bytes;

use crate::json::{Object, quote};

/// One event for the client: its `type` and its JSON, which names the type too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The event's type.
    pub kind: Cow<'static, str>,
    /// The event as JSON.
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

/// The only giver of sequence numbers: from 0, without gaps.
#[derive(Debug, Default)]
pub(super) struct Emitter {
    sequence: u64,
    line: VecDeque<Event>,
}

/// Where an event belongs: the item's id and index as clients know them.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) item_id: &'a str,
    pub(super) output_index: usize,
}

impl Emitter {
    pub(super) fn next(&mut self) -> Option<Event> {
        self.line.pop_front()
    }

    /// An event of our own, with raw `fields`.
    pub(super) fn emit(&mut self, kind: &'static str, fields: &[(&str, &str)]) {
        let event = self.event(kind, fields);
        self.line.push_back(event);
    }

    /// Makes an event without putting it in line.
    pub(super) fn event(&mut self, kind: &'static str, fields: &[(&str, &str)]) -> Event {
        let length: usize = fields
            .iter()
            .map(|(key, raw)| key.len() + raw.len() + 4)
            .sum();
        let mut data = String::with_capacity(length + kind.len() + 48);
        data.push_str(r#"{"type":""#);
        data.push_str(kind);
        data.push_str(r#"","sequence_number":"#);
        data.push_str(&self.count().to_string());
        for (key, raw) in fields {
            data.push_str(r#",""#);
            data.push_str(key);
            data.push_str(r#"":"#);
            data.push_str(raw);
        }
        data.push('}');
        Event {
            kind: Cow::Borrowed(kind),
            data: data.into(),
        }
    }

    /// Passes an upstream's event on: as the bytes that came where number, id and index are right
    /// already, else with only those changed.
    pub(super) fn forward(
        &mut self,
        kind: &str,
        data: &Bytes,
        object: &Object<'_>,
        place: Option<Place<'_>>,
    ) {
        let number = self.count().to_string();
        let fits = object.get("sequence_number") == Some(&number)
            && object.get("type").is_some()
            && !data.contains(&b'\n')
            && place.is_none_or(|place| place.fits(object));
        let data = if fits {
            data.clone()
        } else {
            renumbered(kind, object, number, place)
        };
        self.line.push_back(Event {
            kind: Cow::Owned(kind.to_owned()),
            data,
        });
    }

    fn count(&mut self) -> u64 {
        let number = self.sequence;
        self.sequence += 1;
        number
    }
}

impl Place<'_> {
    fn fits(&self, object: &Object<'_>) -> bool {
        object.get("output_index") == Some(&self.output_index.to_string())
            && object.string("item_id").as_deref() == Some(self.item_id)
    }
}

fn renumbered(kind: &str, object: &Object<'_>, number: String, place: Option<Place<'_>>) -> Bytes {
    let mut object = object.clone();
    object.set_first("type", quote(kind));
    object.set("sequence_number", number);
    if let Some(place) = place {
        object.set_string("item_id", place.item_id);
        object.set("output_index", place.output_index.to_string());
    }
    // A value may hold line ends of its own; between JSON's tokens they mean nothing.
    object.to_text().replace(['\n', '\r'], " ").into()
}
