//! One event as an upstream sent it.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::vocabulary::{Meaning, TextKind, speaks_in_parts};
use crate::item::{HeadError, Item, Kind};
use crate::json::Object;

/// An event as it came, and what it tells.
#[derive(Clone, Copy)]
pub(super) struct Heard<'a> {
    /// Its `type`.
    pub(super) kind: &'a str,
    /// The bytes that came; `None` where a decoder tells of it, from another dialect.
    pub(super) data: Option<&'a Bytes>,
    pub(super) object: &'a Object<'a>,
    pub(super) meaning: Meaning,
}

impl<'a> Heard<'a> {
    pub(super) fn new(kind: &'a str, data: &'a Bytes, object: &'a Object<'a>) -> Self {
        Self { data: Some(data), ..Self::told(kind, object) }
    }

    /// An event that did not come in this form.
    pub(super) fn told(kind: &'a str, object: &'a Object<'a>) -> Self {
        Self { kind, data: None, object, meaning: Meaning::of(kind) }
    }

    /// The event as bytes.
    pub(super) fn bytes(&self) -> Bytes {
        self.data.cloned().unwrap_or_else(|| self.object.to_bytes())
    }

    /// Its `type`, without a copy where it is a known one.
    pub(super) fn name(&self) -> Cow<'static, str> {
        match self.meaning.event() {
            Some(kind) => Cow::Borrowed(kind),
            None => Cow::Owned(self.kind.to_owned()),
        }
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.object.get(key)?.parse().ok()
    }

    /// Where the upstream counts the item.
    pub(super) fn index(&self) -> Option<u64> {
        self.number("output_index")
    }

    pub(super) fn item_id(&self) -> Option<Cow<'a, str>> {
        self.object.string("item_id").filter(|id| !id.is_empty())
    }

    /// Whether it is an event within an item.
    pub(super) fn names_an_item(&self) -> bool {
        self.meaning.is_of_an_item() || self.index().is_some() || self.item_id().is_some()
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        inside(self.object.get(key)?)
    }

    /// The object under `key`.
    pub(super) fn nested(&self, key: &str) -> Option<Object<'a>> {
        Object::parse(self.object.get(key)?.as_bytes()).ok()
    }

    /// The item that it carries.
    pub(super) fn item(&self) -> Option<Item> {
        item_of(self.object.get("item")?)
    }

    /// Whether an item of this kind can tell such a thing. Kinds that nobody knows can tell all.
    pub(super) fn suits(&self, kind: &Kind) -> bool {
        match self.meaning {
            Meaning::Delta(_) | Meaning::TextDone(_) => self.is_told_by(kind),
            Meaning::Other => true,
            _ => speaks_in_parts(kind) || is_unknown(kind),
        }
    }

    /// Whether items of this kind are those that tell such a thing.
    pub(super) fn is_told_by(&self, kind: &Kind) -> bool {
        self.speaker().is_none_or(|speaker| speaker == kind) || is_unknown(kind)
    }

    /// The kind of item that tells such a thing, where that can be known from it.
    pub(super) fn speaker(&self) -> Option<&'static Kind> {
        match self.meaning {
            Meaning::Delta(text) | Meaning::TextDone(text) => Some(&text.speaker),
            Meaning::PartAdded(list) | Meaning::PartDone(list) if list.key == "summary" => {
                Some(&Kind::Reasoning)
            }
            Meaning::PartAdded(_) | Meaning::PartDone(_) => Some(self.part_speaker()),
            Meaning::Annotation => Some(&Kind::Message),
            Meaning::Other => None,
        }
    }

    fn part_speaker(&self) -> &'static Kind {
        let part = self.nested("part");
        let name = part.as_ref().and_then(|part| part.string("type"));
        let text = name.and_then(|name| TextKind::of_part(&name, &Kind::Message));
        text.map_or(&Kind::Message, |text| &text.speaker)
    }
}

fn is_unknown(kind: &Kind) -> bool {
    matches!(kind, Kind::AgentMessage | Kind::Other(_))
}

/// The items of a finished response.
pub(super) fn output_of(response: &Object<'_>) -> Vec<Item> {
    let raws: Option<Vec<&RawValue>> =
        response.get("output").and_then(|output| serde_json::from_str(output).ok());
    let raws = raws.unwrap_or_default();
    raws.iter().filter_map(|raw| item_of(raw.get())).collect()
}

/// The item that `raw` holds. A field of the wrong type is left out, as if it had not been sent;
/// what names neither a type nor a role is no item.
fn item_of(raw: &str) -> Option<Item> {
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

/// The inside of a raw JSON string, still escaped: pieces of such insides, put together, are the
/// inside of one JSON string.
pub(super) fn inside(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}
