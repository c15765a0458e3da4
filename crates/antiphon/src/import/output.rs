//! Collects the items to which messages are converted.

use super::OmittedPart;
use crate::item::Item;
use crate::json::{Object, push_quoted, quote};

/// The converted items so far.
#[derive(Default)]
pub(super) struct Output {
    pub(super) items: Vec<Item>,
    pub(super) sources: Vec<Option<usize>>,
    pub(super) omissions: Vec<OmittedPart>,
    position: usize,
}

impl Output {
    /// Starts the message at this position.
    pub(super) fn begin(&mut self, position: usize) {
        self.position = position;
    }

    /// Adds the item with these fields.
    pub(super) fn push(&mut self, item: &Object<'_>) -> Result<(), String> {
        let item = Item::parse(item.to_bytes()).map_err(|error| error.to_string())?;
        self.items.push(item);
        self.sources.push(Some(self.position));
        Ok(())
    }

    /// Records a part without an equivalent in an item.
    pub(super) fn omit(&mut self, kind: &str) {
        self.omissions.push(OmittedPart { position: self.position, kind: kind.to_owned() });
    }

    /// Adds a message with this raw content.
    pub(super) fn message(&mut self, role: &str, content: &str) -> Result<(), String> {
        let mut item = typed_object("message");
        item.set("role", quote(role));
        item.set("content", content);
        self.push(&item)
    }

    /// Adds a function call.
    pub(super) fn call(&mut self, call: &Call<'_>) -> Result<(), String> {
        let mut item = typed_object("function_call");
        if let Some(id) = call.id {
            item.set("id", quote(id));
        }
        if let Some(call_id) = call.call_id {
            item.set("call_id", call_id);
        }
        item.set("name", call.name.unwrap_or(r#""""#));
        item.set("arguments", text_of(call.arguments.unwrap_or("{}")));
        self.push(&item)
    }

    /// Adds the output of a call, both as raw JSON.
    pub(super) fn output(&mut self, call_id: &str, output: &str) -> Result<(), String> {
        let mut item = typed_object("function_call_output");
        item.set("call_id", call_id);
        item.set("output", output);
        self.push(&item)
    }
}

/// A function call with raw values.
pub(super) struct Call<'a> {
    /// The item's own id, as text.
    pub(super) id: Option<&'a str>,
    pub(super) call_id: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) arguments: Option<&'a str>,
}

/// An item or a part of this type.
pub(super) fn typed_object(kind: &str) -> Object<'static> {
    let mut object = Object::default();
    object.set("type", quote(kind));
    object
}

/// A raw value as a raw string: a string stays, another value becomes its JSON text.
pub(super) fn text_of(raw: &str) -> String {
    if raw.starts_with('"') { raw.to_owned() } else { quote(raw) }
}

/// A part of a client's message, from raw text.
pub(super) fn input_text(text: &str) -> String {
    format!(r#"{{"type":"input_text","text":{text}}}"#)
}

/// A part of a model's message, from raw text.
pub(super) fn output_text(text: &str) -> String {
    format!(r#"{{"type":"output_text","text":{text},"annotations":[]}}"#)
}

/// An array of raw elements.
pub(super) fn array(elements: &[String]) -> String {
    format!("[{}]", elements.join(","))
}

/// A part for a file or an image.
pub(super) fn file_part(media_type: &str, place: &FilePlace<'_>, filename: Option<&str>) -> String {
    let is_image = media_type == "image" || media_type.starts_with("image/");
    let (field, value) = match place {
        FilePlace::Id(id) => ("file_id", (*id).to_owned()),
        FilePlace::Url(url) if is_image => ("image_url", (*url).to_owned()),
        FilePlace::Url(url) => ("file_url", (*url).to_owned()),
        FilePlace::Base64(bytes) => {
            let url = format!("data:{media_type};base64,{bytes}");
            (if is_image { "image_url" } else { "file_data" }, url)
        }
        FilePlace::DataUrl(url) => {
            (if is_image { "image_url" } else { "file_data" }, (*url).to_owned())
        }
    };
    let mut part = typed_object(if is_image { "input_image" } else { "input_file" });
    let mut raw = String::with_capacity(value.len() + 2);
    push_quoted(&mut raw, &value);
    part.set(field, raw);
    if let Some(filename) = filename.filter(|_| !is_image) {
        part.set("filename", quote(filename));
    }
    part.to_text()
}

/// The location of a file.
pub(super) enum FilePlace<'a> {
    Id(&'a str),
    Url(&'a str),
    Base64(&'a str),
    DataUrl(&'a str),
}

impl<'a> FilePlace<'a> {
    /// Parses a text that is a URL, a data URL or base64.
    pub(super) fn parse(text: &'a str) -> Self {
        if text.starts_with("data:") {
            Self::DataUrl(text)
        } else if text.starts_with("http://") || text.starts_with("https://") {
            Self::Url(text)
        } else {
            Self::Base64(text)
        }
    }
}
