//! A history in its original form.

use std::ops::Range;

use antiphon::import::{HistoryForm, ImportError, Imported, OmittedPart, import};
use antiphon::json::{Object, range_of_slice, replace_array};
use antiphon::repair::{self, Held};
use antiphon::strip::Marker;
use antiphon::{Item, Transcript};
use bytes::Bytes;
use serde_json::value::RawValue;

use crate::failure::Failure;

/// A parsed history: an array of items or messages, a request, or a conversation.
pub(super) struct Document {
    text: Bytes,
    /// The byte range of the list of items in the text.
    list: Range<usize>,
    /// The form of the input.
    pub(super) form: HistoryForm,
    /// The items, oldest first.
    pub(super) items: Vec<Item>,
    /// For each item, the position of its source element in the list.
    sources: Vec<Option<usize>>,
    /// The parts of messages that no item can represent.
    pub(super) omissions: Vec<OmittedPart>,
    /// Whether the list belongs to a request of another API, which cannot contain items.
    is_foreign_request: bool,
    /// Whether the list starts with the newest item.
    newest_first: bool,
    /// The field of a request that refers to earlier items on a server.
    pub(super) marker: Option<Marker>,
    /// The line number, from 1, if every line is a history.
    pub(super) line: Option<usize>,
}

/// The position of the item list in a history.
struct ItemList {
    range: Range<usize>,
    /// The name of the field; `None` if the whole text is the list.
    field: Option<&'static str>,
    /// Whether the list is a list object of the API.
    is_listing: bool,
    marker: Option<Marker>,
    /// The raw system prompt next to Anthropic messages.
    system: Option<String>,
}

/// The source of a text: a whole file or one line of it.
pub(super) struct TextSource {
    /// The name of the file, as the user gave it.
    pub(super) name: String,
    /// The line number, from 1; `None` for a whole file.
    pub(super) line: Option<usize>,
}

impl TextSource {
    /// The failure for an invalid `text`, with the line and column of `offset`.
    pub(super) fn invalid_at(&self, text: &[u8], offset: usize, sentence: &str) -> Failure {
        let lines = || text[..offset].split(|byte| *byte == b'\n');
        let column = 1 + lines().next_back().map_or(0, <[u8]>::len);
        self.at(lines().count(), column, sentence)
    }

    /// The failure for a text that is not JSON.
    pub(super) fn invalid_json(&self, error: &serde_json::Error) -> Failure {
        let (line, column) = (error.line(), error.column());
        let sentence = error.to_string();
        let position = format!(" at line {line} column {column}");
        let sentence = sentence.strip_suffix(&position).unwrap_or(&sentence);
        self.at(line, column.max(1), &format!("this is not JSON: {sentence}"))
    }

    fn at(&self, line: usize, column: usize, sentence: &str) -> Failure {
        let line = self.line.unwrap_or(line);
        Failure::usage(format!("{}:{line}:{column}: {sentence}", self.name))
    }
}

impl Document {
    pub(super) fn parse(text: Vec<u8>, source: &TextSource) -> Result<Self, Failure> {
        let text = Bytes::from(text);
        let json = std::str::from_utf8(&text).map_err(|error| {
            source.invalid_at(&text, error.valid_up_to(), "this is not JSON: it is not UTF-8")
        })?;
        let invalid = |offset: usize, sentence: &str| source.invalid_at(&text, offset, sentence);
        // Trim the end, so that an error never points to blanks after the last value.
        let value: &RawValue =
            serde_json::from_str(json.trim_end()).map_err(|error| source.invalid_json(&error))?;
        let list = ItemList::find(json, value.get())
            .map_err(|sentence| invalid(range_of_slice(json, value.get()).start, sentence))?;
        let range = list.range.clone();
        let imported = match (json.as_bytes()[range.start], list.field) {
            (b'"', Some("input")) => Ok(text_input(&json[range.clone()])),
            (b'[', _) => list.import(&text),
            _ => return Err(invalid(range.start, &not_a_list(list.field))),
        };
        let imported = imported.map_err(|error| {
            let offset = range.start + offset_of(&error, &json[range.clone()]);
            invalid(offset, &error.to_string())
        })?;
        Ok(Self::from_import(list, imported, source.line, text.clone()))
    }

    fn from_import(list: ItemList, imported: Imported, line: Option<usize>, text: Bytes) -> Self {
        let Imported { form, mut items, mut sources, omissions } = imported;
        let is_foreign = form != HistoryForm::Responses;
        let newest_first = list.is_listing && !is_foreign && is_newest_first(&items);
        if newest_first {
            items.reverse();
            sources.reverse();
        }
        let is_foreign_request = is_foreign && list.field == Some("messages");
        let ItemList { range, marker, .. } = list;
        Self {
            text,
            list: range,
            form,
            items,
            sources,
            omissions,
            is_foreign_request,
            newest_first,
            marker,
            line,
        }
    }

    /// The items that the server holds before the history: those of `--held` if given.
    ///
    /// Otherwise, if the history refers to earlier items on a server, they are [`Held::Unknown`].
    /// `None` means that the history is complete.
    pub(super) fn held_before<'a>(&self, transcript: Option<&'a Transcript>) -> Option<Held<'a>> {
        if transcript.is_none() && self.marker.is_some() {
            return Some(Held::Unknown);
        }
        antiphon_surface::history::before(&self.items, transcript)
    }

    /// Whether the input consisted of items. The output then has the form of the input.
    pub(super) fn is_item_list(&self) -> bool {
        self.form == HistoryForm::Responses
    }

    /// The position in the original list of the item at `position` in [`Document::items`], or of
    /// the message from which it was converted.
    pub(super) fn position(&self, position: usize) -> Option<usize> {
        self.sources.get(position).copied().flatten()
    }

    /// The document with `items` in place of its list. All other bytes stay the same. For a request
    /// of another API, the result is the array of items alone.
    pub(super) fn with_items(&self, items: &[Item]) -> Bytes {
        if self.is_foreign_request {
            let end = if self.line.is_some() { "\n" } else { "" };
            let items: Vec<&str> = items.iter().map(Item::text).collect();
            return format!("[{}]{end}", items.join(",")).into();
        }
        if self.is_item_list() && items == self.items {
            return self.text.clone();
        }
        let text = std::str::from_utf8(&self.text).expect("a document is parsed from text");
        let mut elements: Vec<&str> = items.iter().map(Item::text).collect();
        if self.newest_first {
            elements.reverse();
        }
        replace_array(text, self.list.clone(), elements).into()
    }
}

impl ItemList {
    fn find(text: &str, value: &str) -> Result<Self, &'static str> {
        const FIELDS: [&str; 4] = ["input", "items", "messages", "data"];
        if value.starts_with('[') {
            let range = range_of_slice(text, value);
            let (field, is_listing, marker, system) = (None, false, None, None);
            return Ok(Self { range, field, is_listing, marker, system });
        }
        let object = Object::parse(value.as_bytes()).map_err(|_| NO_HISTORY)?;
        let field = FIELDS.into_iter().find_map(|field| Some((field, object.get(field)?)));
        let (field, list) = field.ok_or(NO_HISTORY)?;
        let marker = Marker::from_request(&object).filter(|_| field == "input");
        let is_listing = field == "data" && object.string("object").as_deref() == Some("list");
        let system = object.present("system").filter(|_| field == "messages").map(str::to_owned);
        Ok(Self {
            range: range_of_slice(text, list),
            field: Some(field),
            is_listing,
            marker,
            system,
        })
    }

    /// Imports the history in the list. If its form is ambiguous, `messages` count as Chat
    /// Completions, or as Anthropic's if a system prompt is present; every other list counts as
    /// items.
    fn import(&self, text: &Bytes) -> Result<Imported, ImportError> {
        let preferred = match (self.field, &self.system) {
            (Some("messages"), Some(_)) => HistoryForm::Anthropic,
            (Some("messages"), None) => HistoryForm::Chat,
            _ => HistoryForm::Responses,
        };
        import(&text.slice(self.range.clone()), preferred, self.system.as_deref())
    }
}

const NO_HISTORY: &str = "not a history: give an array of items or messages, a request with \
                          'input' or 'messages', or a conversation with 'items' or 'data'";

fn not_a_list(field: Option<&str>) -> String {
    match field {
        Some("input") => "'input' is neither a string nor an array of items".to_owned(),
        Some("messages") => "'messages' is not an array of messages".to_owned(),
        Some(field) => format!("'{field}' is not an array of items"),
        None => NO_HISTORY.to_owned(),
    }
}

/// The history of a text input: one message.
fn text_input(text: &str) -> Imported {
    let raw = format!(r#"{{"role":"user","content":{text}}}"#);
    let message = Item::parse(raw.into()).expect("a role and a string make a message");
    Imported {
        form: HistoryForm::Responses,
        items: vec![message],
        sources: vec![Some(0)],
        omissions: Vec::new(),
    }
}

/// Whether the list starts with the newest item. The API lists the newest item first by default,
/// and a list object does not contain its order. The order with fewer faults is taken as the right
/// one. If both have the same number, the right one does not begin with an item of the model.
fn is_newest_first(items: &[Item]) -> bool {
    let fault_count = |items: &[Item]| {
        let begins_with_model = items.first().is_some_and(|item| item.head().is_model_made());
        (repair::check(items).len(), begins_with_model)
    };
    let reversed: Vec<Item> = items.iter().rev().cloned().collect();
    fault_count(&reversed) < fault_count(items)
}

/// The offset in the array `list` of the element that caused the error.
fn offset_of(error: &ImportError, list: &str) -> usize {
    let elements: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
    let element = error.position().and_then(|position| elements.get(position));
    element.map_or(0, |element| range_of_slice(list, element.get()).start)
}
