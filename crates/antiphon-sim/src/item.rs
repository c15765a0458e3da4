//! One item of the input, in the model's view.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::SimError;
use super::text::{shorten, without_notes};

/// An item of the context. Items without a rule have the variant `Other`.
#[derive(Debug)]
pub(super) enum Item {
    Message {
        role: String,
        parts: Vec<Part>,
    },
    /// A call of any kind: `type` ends in `_call`.
    Call {
        kind: String,
        call_id: String,
        name: String,
        input: String,
    },
    /// The output of a call: `type` ends in `_call_output`.
    Output {
        kind: String,
        call_id: String,
        name: Option<String>,
        parts: Vec<Part>,
    },
    Other {
        kind: String,
        text: String,
    },
}

/// One part of a content.
#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    /// A part other than text, described in words: `an image (image/png, detail high)`.
    Attachment(String),
}

impl Item {
    /// Parses the item at `index` of the input.
    pub(super) fn read(index: usize, value: &Value) -> Result<Self, SimError> {
        let fields = value.as_object().ok_or_else(|| invalid(index, "an item, as an object"))?;
        let kind = string(fields, "type");
        match kind.as_str() {
            "message" => message(index, fields),
            "" if fields.contains_key("role") => message(index, fields),
            "" => Err(invalid(index, "an item with a 'type', or a message with a 'role'")),
            "item_reference" => Err(SimError::NotHeld { kind: "Item", id: string(fields, "id") }),
            _ if kind.ends_with("_call_output") => output(index, kind, fields),
            _ if kind.ends_with("_call") => Ok(call(kind, fields)),
            _ => Ok(Self::Other { text: summary(fields), kind }),
        }
    }

    /// All text of the item.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Message { parts, .. } | Self::Output { parts, .. } => text_of(parts),
            Self::Call { input, .. } => input.clone(),
            Self::Other { text, .. } => text.clone(),
        }
    }
}

/// The text of `parts`, one line per part, without attachments.
pub(super) fn text_of(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Attachment(_) => None,
        })
        .collect();
    texts.join("\n")
}

/// The text of `parts`, with a description in place of each attachment.
pub(super) fn describe(parts: &[Part]) -> String {
    let words: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Attachment(description) => format!("[{description}]"),
        })
        .collect();
    words.join(" ")
}

/// The descriptions of the attachments in `parts`.
pub(super) fn attachments(parts: &[Part]) -> Vec<&str> {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Attachment(description) => Some(description.as_str()),
        })
        .collect()
}

fn message(index: usize, fields: &Map<String, Value>) -> Result<Item, SimError> {
    let role = string(fields, "role");
    if role.is_empty() {
        return Err(invalid(index, "a message with a 'role'"));
    }
    let mut parts = content(index, fields.get("content"))?;
    if role == "user" {
        parts.retain_mut(is_said);
    }
    Ok(Item::Message { role, parts })
}

/// Removes the notes of a coding agent from a part. Whether anything else is in it.
fn is_said(part: &mut Part) -> bool {
    let Part::Text(text) = part else { return true };
    match without_notes(text) {
        Cow::Borrowed(_) => true,
        Cow::Owned(said) => {
            let is_empty = said.is_empty();
            *text = said;
            !is_empty
        }
    }
}

fn call(kind: String, fields: &Map<String, Value>) -> Item {
    let input = ["arguments", "input", "action"]
        .iter()
        .find_map(|key| fields.get(*key))
        .map(in_words)
        .unwrap_or_default();
    let name = match string(fields, "name") {
        name if name.is_empty() => kind.trim_end_matches("_call").to_owned(),
        name => name,
    };
    Item::Call { kind, call_id: string(fields, "call_id"), name, input }
}

fn output(index: usize, kind: String, fields: &Map<String, Value>) -> Result<Item, SimError> {
    let parts = match fields.get("output") {
        Some(Value::Object(output)) => vec![Part::Text(Value::Object(output.clone()).to_string())],
        output => content(index, output)?,
    };
    let name = Some(string(fields, "name")).filter(|name| !name.is_empty());
    Ok(Item::Output { kind, call_id: string(fields, "call_id"), name, parts })
}

fn content(index: usize, content: Option<&Value>) -> Result<Vec<Part>, SimError> {
    match content {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::Text(text.clone())]),
        Some(Value::Array(parts)) => parts.iter().map(|part| read_part(index, part)).collect(),
        Some(_) => Err(invalid(index, "a content that is a string or an array of parts")),
    }
}

fn read_part(index: usize, part: &Value) -> Result<Part, SimError> {
    let fields = part.as_object().ok_or_else(|| invalid(index, "a content of part objects"))?;
    Ok(match string(fields, "type").as_str() {
        "input_text" | "output_text" | "text" | "summary_text" | "reasoning_text" => {
            Part::Text(string(fields, "text"))
        }
        "refusal" => Part::Text(string(fields, "refusal")),
        "input_image" => Part::Attachment(image(fields)),
        "input_file" => Part::Attachment(file(fields)),
        kind => Part::Attachment(format!("a part of type {kind}")),
    })
}

fn image(fields: &Map<String, Value>) -> String {
    let detail = match string(fields, "detail") {
        detail if detail.is_empty() => "auto".to_owned(),
        detail => detail,
    };
    let url = string(fields, "image_url");
    let size = size_of_data_url(&url);
    let size = size.map_or_else(String::new, |(width, height)| format!(", {width}×{height}"));
    format!("an image ({}{size}, detail {detail})", origin(fields, &["image_url", "file_id"]))
}

fn file(fields: &Map<String, Value>) -> String {
    format!("a file ({})", origin(fields, &["filename", "file_url", "file_id"]))
}

/// The source of an attachment: a name, a URL or an id, or the media type of a data URL. It never
/// contains the bytes.
fn origin(fields: &Map<String, Value>, keys: &[&str]) -> String {
    let data_url = Some(string(fields, "file_data")).filter(|bytes| bytes.starts_with("data:"));
    let mut names = keys.iter().map(|key| string(fields, key)).filter(|name| !name.is_empty());
    match names.next().or(data_url) {
        None => "unnamed".to_owned(),
        Some(name) => match name.strip_prefix("data:") {
            Some(inline) => inline.split([';', ',']).next().unwrap_or_default().to_owned(),
            None => shorten(&name, 60),
        },
    }
}

/// The text of an item without a rule: the summary of reasoning, or nothing.
fn summary(fields: &Map<String, Value>) -> String {
    let parts = fields.get("summary").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    texts.join(" ")
}

fn in_words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn string(fields: &Map<String, Value>, key: &str) -> String {
    fields.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn invalid(index: usize, expected: &'static str) -> SimError {
    SimError::InvalidParameter { param: format!("input[{index}]"), expected }
}

/// The length of base64 that is searched for the size. Camera metadata may come before it.
const HEADER: usize = 256 << 10;

/// Width and height in pixels of an image in a base64 data URL. `None` if its format is unknown.
pub(super) fn size_of_data_url(url: &str) -> Option<(usize, usize)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    head.strip_suffix(";base64")?;
    let whole = data.len().min(HEADER) / 4 * 4;
    let header = STANDARD.decode(data.as_bytes().get(..whole)?).ok()?;
    let size = imagesize::blob_size(&header).ok()?;
    Some((size.width, size.height))
}
