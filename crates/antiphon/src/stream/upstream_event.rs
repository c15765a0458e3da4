//! An event of the upstream.

use std::borrow::Cow;

use bytes::Bytes;

use super::vocabulary::{Meaning, TextKind, holds_parts};
use crate::item::{HeadError, Item, ItemEvents, Kind};
use crate::json::{Object, elements};

/// An event of the upstream, with its classification.
#[derive(Clone, Copy)]
pub(super) struct UpstreamEvent<'a> {
    /// Its `type`.
    pub(super) kind: &'a str,
    /// The upstream's bytes; `None` if a decoder produced the event from another dialect.
    pub(super) data: Option<&'a Bytes>,
    pub(super) object: &'a Object<'a>,
    pub(super) meaning: Meaning,
}

impl<'a> UpstreamEvent<'a> {
    pub(super) fn new(kind: &'a str, data: &'a Bytes, object: &'a Object<'a>) -> Self {
        Self { data: Some(data), ..Self::from_decoder(kind, object) }
    }

    /// Creates an event that a decoder produced from another dialect.
    pub(super) fn from_decoder(kind: &'a str, object: &'a Object<'a>) -> Self {
        Self { kind, data: None, object, meaning: Meaning::classify(kind) }
    }

    /// The event as bytes.
    pub(super) fn bytes(&self) -> Bytes {
        self.data.cloned().unwrap_or_else(|| self.object.to_bytes())
    }

    /// The `type`, without a copy if it is a known one.
    pub(super) fn name(&self) -> Cow<'static, str> {
        match self.meaning.event() {
            Some(kind) => Cow::Borrowed(kind),
            None => Cow::Owned(self.kind.to_owned()),
        }
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.object.get(key)?.parse().ok()
    }

    /// The upstream's index of the item.
    pub(super) fn index(&self) -> Option<u64> {
        self.number("output_index")
    }

    pub(super) fn item_id(&self) -> Option<Cow<'a, str>> {
        self.object.string("item_id").filter(|id| !id.is_empty())
    }

    /// Whether it is an event of an item.
    pub(super) fn is_item_event(&self) -> bool {
        self.meaning.belongs_to_item() || self.index().is_some() || self.item_id().is_some()
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        inside(self.object.get(key)?)
    }

    /// The object under `key`.
    pub(super) fn nested(&self, key: &str) -> Option<Object<'a>> {
        Object::parse(self.object.get(key)?.as_bytes()).ok()
    }

    /// The item in the event.
    pub(super) fn item(&self) -> Option<Item> {
        parse_item(self.object.get("item")?)
    }

    /// Whether an item of this kind can have such an event. Items of unknown kinds can have any
    /// event.
    pub(super) fn can_belong_to(&self, kind: &Kind) -> bool {
        match self.meaning {
            Meaning::Delta(_) | Meaning::TextDone(_) => self.belongs_to_kind(kind),
            Meaning::Other => true,
            _ => holds_parts(kind) || is_unknown(kind),
        }
    }

    /// Whether such events belong to items of this kind.
    pub(super) fn belongs_to_kind(&self, kind: &Kind) -> bool {
        self.item_kind().is_none_or(|item_kind| item_kind == kind) || is_unknown(kind)
    }

    /// The kind of item that has such events, if the event determines it.
    pub(super) fn item_kind(&self) -> Option<&'static Kind> {
        match self.meaning {
            Meaning::Delta(text) | Meaning::TextDone(text) => Some(&text.item_kind),
            Meaning::PartAdded(list) | Meaning::PartDone(list) if list.key == "summary" => {
                Some(&Kind::Reasoning)
            }
            Meaning::PartAdded(_) | Meaning::PartDone(_) => Some(self.part_item_kind()),
            Meaning::Annotation => Some(&Kind::Message),
            Meaning::Other => None,
        }
    }

    fn part_item_kind(&self) -> &'static Kind {
        let part = self.nested("part");
        let name = part.as_ref().and_then(|part| part.string("type"));
        let text = name.and_then(|name| TextKind::for_part(&name, &Kind::Message));
        text.map_or(&Kind::Message, |text| &text.item_kind)
    }
}

fn is_unknown(kind: &Kind) -> bool {
    kind.events() == ItemEvents::Unknown
}

/// The items of a finished response.
pub(super) fn parse_output(response: &Object<'_>) -> Vec<Item> {
    let raws = response.get("output").and_then(elements).unwrap_or_default();
    raws.into_iter().filter_map(parse_item).collect()
}

/// Parses an item. A field of the wrong type is removed; an object with neither a type nor a role
/// is not an item.
fn parse_item(raw: &str) -> Option<Item> {
    let mut raw = Bytes::copy_from_slice(raw.as_bytes());
    let item = loop {
        match Item::parse(raw.clone()) {
            Ok(item) => break item,
            Err(HeadError::WrongType { field, .. }) => raw = without(&raw, field)?,
            Err(_) => return None,
        }
    };
    (item.head().kind != Kind::ItemReference).then_some(item)
}

fn without(raw: &[u8], field: &str) -> Option<Bytes> {
    let mut object = Object::parse(raw).ok()?;
    object.remove(field);
    Some(object.to_bytes())
}

/// The inside of a raw JSON string, still escaped. Concatenated insides are again the inside of one
/// JSON string.
pub(super) fn inside(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}
