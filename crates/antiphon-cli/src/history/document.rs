//! A history in the shape in which it came.

use std::ops::Range;

use antiphon::Item;
use antiphon::item::{ListError, items_of};
use antiphon::json::{Object, range_in, with_elements};
use antiphon::repair;
use antiphon::strip::Marker;
use bytes::Bytes;
use serde_json::value::RawValue;

use super::place::Place;
use crate::failure::Failure;

/// An array of items, a request, or a conversation.
pub(super) struct Document {
    text: Bytes,
    /// Where in the text the items stand.
    list: Range<usize>,
    /// The items, the oldest first.
    pub(super) items: Vec<Item>,
    /// Whether the list has the newest item first.
    newest_first: bool,
    /// By what a request says that a server holds what is before it.
    pub(super) marker: Option<Marker>,
    /// The number of its line, from 1, where every line is a history.
    pub(super) line: Option<usize>,
}

/// Where a history's items stand.
struct List {
    range: Range<usize>,
    /// The field; `None` where the whole text is the list.
    field: Option<&'static str>,
    /// Whether it is a list as the API lists items.
    is_listing: bool,
    marker: Option<Marker>,
}

impl Document {
    pub(super) fn parse(text: Vec<u8>, place: &Place) -> Result<Self, Failure> {
        let text = Bytes::from(text);
        let json = std::str::from_utf8(&text).map_err(|error| {
            place.refused(&text, error.valid_up_to(), "this is not JSON: it is not UTF-8")
        })?;
        let refused = |offset: usize, sentence: &str| place.refused(&text, offset, sentence);
        // What stands behind the last value is no place for an error.
        let value: &RawValue =
            serde_json::from_str(json.trim_end()).map_err(|error| place.no_json(&error))?;
        let List { range, field, is_listing, marker } = List::of(json, value.get())
            .map_err(|sentence| refused(range_in(json, value.get()).start, sentence))?;
        let items = match (json.as_bytes()[range.start], field) {
            (b'"', Some("input")) => Ok(vec![message(&json[range.clone()])]),
            (b'[', _) => items_of(&text.slice(range.clone()))
                .map_err(|error| (range.start + offset_of(&error, &json[range.clone()]), error)),
            _ => return Err(refused(range.start, &no_list(field))),
        };
        let mut items = items.map_err(|(offset, error)| refused(offset, &error.to_string()))?;
        let newest_first = is_listing && is_newest_first(&items);
        if newest_first {
            items.reverse();
        }
        Ok(Self { list: range, items, newest_first, marker, line: place.line, text: text.clone() })
    }

    /// The position in the list, as it came, of the item at `position` in [`Document::items`].
    pub(super) fn position(&self, position: usize) -> usize {
        if self.newest_first { self.items.len() - 1 - position } else { position }
    }

    /// The document with these items in the place of its own. All other bytes stay.
    pub(super) fn with(&self, items: &[Item]) -> Bytes {
        if items == self.items {
            return self.text.clone();
        }
        let text = std::str::from_utf8(&self.text).expect("a document is parsed from text");
        let mut elements: Vec<&str> = items.iter().map(Item::text).collect();
        if self.newest_first {
            elements.reverse();
        }
        with_elements(text, self.list.clone(), elements).into()
    }
}

impl List {
    fn of(text: &str, value: &str) -> Result<Self, &'static str> {
        const FIELDS: [&str; 3] = ["input", "items", "data"];
        if value.starts_with('[') {
            let range = range_in(text, value);
            return Ok(Self { range, field: None, is_listing: false, marker: None });
        }
        let object = Object::parse(value.as_bytes()).map_err(|_| NO_HISTORY)?;
        let field = FIELDS.into_iter().find_map(|field| Some((field, object.get(field)?)));
        let (field, list) = field.ok_or(NO_HISTORY)?;
        let marker = Marker::of(&object).filter(|_| field == "input");
        let is_listing = field == "data" && object.string("object").as_deref() == Some("list");
        Ok(Self { range: range_in(text, list), field: Some(field), is_listing, marker })
    }
}

const NO_HISTORY: &str = "this is no history: give an array of items, a request with 'input', or a \
                          conversation with its list in 'items' or 'data'";

fn no_list(field: Option<&str>) -> String {
    match field {
        Some("input") => "'input' is neither a string nor an array of items".to_owned(),
        Some(field) => format!("'{field}' is not an array of items"),
        None => NO_HISTORY.to_owned(),
    }
}

/// The message that a text is as input.
fn message(text: &str) -> Item {
    let raw = format!(r#"{{"role":"user","content":{text}}}"#);
    Item::parse(raw.into()).expect("a role and a string make a message")
}

/// The API lists the newest item first unless it is asked not to, and a list does not tell. In the
/// right order fewer faults are found, and where there are as many, the model does not begin.
fn is_newest_first(items: &[Item]) -> bool {
    let oddities = |items: &[Item]| {
        let begins_with_model = items.first().is_some_and(|item| item.head().is_model_made());
        (repair::check(items).len(), begins_with_model)
    };
    let reversed: Vec<Item> = items.iter().rev().cloned().collect();
    oddities(&reversed) < oddities(items)
}

/// Where in the array `list` the item stands that is none.
fn offset_of(error: &ListError, list: &str) -> usize {
    let ListError::Item { position, .. } = error else {
        return 0;
    };
    let items: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
    items.get(*position).map_or(0, |item| range_in(list, item.get()).start)
}
