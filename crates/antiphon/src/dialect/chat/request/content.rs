//! The content of a message: a text, or parts.

use super::unsupported;
use crate::dialect::chat::fields::{Fields, array, join};
use crate::dialect::request::{RequestPath, Unsupported};
use crate::json::{Object, elements};

/// The separator between texts that are joined: a blank line, escaped.
const BLANK_LINE: &str = r"\n\n";

/// An empty text, as raw JSON.
pub(super) const EMPTY_TEXT: &str = r#""""#;

/// A content in the form of Chat Completions.
#[derive(Default)]
pub(super) struct Content {
    parts: Vec<Part>,
}

impl Content {
    /// Parses the raw value under `field` of an item: a string, or an array of parts. An absent
    /// value is an empty content.
    pub(super) fn parse(
        raw: Option<&str>,
        author: Author,
        position: usize,
        field: &str,
    ) -> Result<Self, Unsupported> {
        match raw {
            None => Ok(Self::default()),
            Some(text) if text.starts_with('"') => {
                Ok(Self { parts: vec![Part::Text(text.into())] })
            }
            Some(raw) => parts(raw, author, position, field).map(|parts| Self { parts }),
        }
    }

    /// The content, or an empty text if it has no parts.
    pub(super) fn or_empty_text(mut self) -> Self {
        if self.parts.is_empty() {
            self.parts.push(Part::Text(EMPTY_TEXT.into()));
        }
        self
    }

    /// Appends another content.
    pub(super) fn append(&mut self, mut other: Self) {
        self.parts.append(&mut other.parts);
    }

    /// Whether the content is empty or only text.
    pub(super) fn is_plain(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// Removes the parts that are neither text nor refusal, and returns them.
    pub(super) fn take_media(&mut self) -> Vec<String> {
        let is_media = |part: &mut Part| matches!(part, Part::Media(_));
        self.parts.extract_if(.., is_media).map(Part::into_json).collect()
    }

    /// Removes the refusals, and returns them as one raw JSON string.
    pub(super) fn take_refusal(&mut self) -> Option<String> {
        let is_refusal = |part: &mut Part| matches!(part, Part::Refusal(_));
        let refusals: Vec<Part> = self.parts.extract_if(.., is_refusal).collect();
        let texts = refusals.iter().filter_map(|part| match part {
            Part::Refusal(text) => Some(&**text),
            _ => None,
        });
        (!refusals.is_empty()).then(|| join(texts, BLANK_LINE))
    }

    /// The content as JSON; `None` if it has no parts. Texts are joined into one string with a
    /// blank line between them: every server accepts a string, and some reject arrays (DeepSeek's).
    pub(super) fn into_json(self) -> Option<String> {
        if self.parts.is_empty() {
            return None;
        }
        if !self.is_plain() {
            return Some(array(self.parts.into_iter().map(Part::into_json)));
        }
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(&**text),
            _ => None,
        });
        Some(join(texts, BLANK_LINE))
    }
}

fn parts(
    raw: &str,
    author: Author,
    position: usize,
    field: &str,
) -> Result<Vec<Part>, Unsupported> {
    let place = || RequestPath::Item(position, field.into());
    let raws =
        elements(raw).ok_or_else(|| unsupported(place(), "expected a string or an array"))?;
    let part_at = |(nth, raw): (usize, &str)| {
        let place = || RequestPath::Item(position, format!("{field}[{nth}]"));
        let part = Object::parse_str(raw);
        Part::parse(&part.map_err(|_| unsupported(place(), "expected an object"))?, author, place)
    };
    raws.into_iter().enumerate().map(part_at).collect()
}

/// A part of a content in the form of Chat Completions.
pub(super) enum Part {
    /// A text without other fields: a raw JSON string.
    Text(String),
    /// A text with unknown fields (`cache_control`): a raw part.
    MarkedText(String),
    /// A refusal of the model: a raw JSON string.
    Refusal(String),
    /// An image, a file or audio: a raw part.
    Media(String),
}

/// The author of a content. Only users and tools can send images, files and audio.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// `system` and `developer`
    System,
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// A tool, in a call's output
    Tool,
}

impl Part {
    /// Converts the part at `place`.
    pub(super) fn parse(
        part: &Object<'_>,
        author: Author,
        place: impl Fn() -> RequestPath,
    ) -> Result<Self, Unsupported> {
        let allows_media = matches!(author, Author::User | Author::Tool);
        let kind = part.string("type").unwrap_or_default();
        match (&*kind, author) {
            ("input_text" | "output_text" | "text", _) => text(part, place),
            ("refusal", Author::Assistant) => {
                Ok(Self::Refusal(string(part, "refusal", place)?.to_owned()))
            }
            ("input_image", _) if allows_media => image(part, place),
            ("input_file", _) if allows_media => file(part, place),
            ("input_audio", _) if allows_media => Ok(Self::Media(part.to_text())),
            ("input_image" | "input_file" | "input_audio", _) => {
                Err(unsupported(place(), "it takes images, files and audio only from users"))
            }
            _ => Err(unsupported(place(), &format!("it has no content part '{kind}'"))),
        }
    }

    /// The part in an array of parts.
    pub(super) fn into_json(self) -> String {
        match self {
            Self::Text(text) => Fields::with_type("text").raw("text", &text).json(),
            Self::Refusal(text) => Fields::with_type("refusal").raw("refusal", &text).json(),
            Self::MarkedText(part) | Self::Media(part) => part,
        }
    }
}

/// The text part. Annotations and log probabilities are dropped: they only describe an answer's
/// text.
fn text(part: &Object<'_>, place: impl Fn() -> RequestPath) -> Result<Part, Unsupported> {
    let text = string(part, "text", place)?;
    let mut others = others(part, &["text", "annotations", "logprobs"]).peekable();
    if others.peek().is_none() {
        return Ok(Part::Text(text.to_owned()));
    }
    Ok(Part::MarkedText(Fields::with_type("text").raw("text", text).all(others).json()))
}

fn image(part: &Object<'_>, place: impl Fn() -> RequestPath) -> Result<Part, Unsupported> {
    let Some(url) = part.present("image_url").filter(|_| part.present("file_id").is_none()) else {
        return Err(unsupported(place(), "it takes images by their URL, not by 'file_id'"));
    };
    let image = Fields::new().raw("url", url).present("detail", part.present("detail")).json();
    let others = others(part, &["image_url", "file_id", "detail"]);
    Ok(Part::Media(Fields::with_type("image_url").raw("image_url", &image).all(others).json()))
}

const FILE: &[&str] = &["file_data", "file_id", "filename"];

fn file(part: &Object<'_>, place: impl Fn() -> RequestPath) -> Result<Part, Unsupported> {
    if part.present("file_url").is_some() {
        let because = "it takes files by their data or by 'file_id', not by 'file_url'";
        return Err(unsupported(place(), because));
    }
    let mut file = Fields::new();
    for name in FILE {
        file.present(name, part.present(name));
    }
    let others = others(part, &["file_data", "file_id", "filename", "file_url"]);
    Ok(Part::Media(Fields::with_type("file").raw("file", &file.json()).all(others).json()))
}

fn string<'a>(
    part: &'a Object<'_>,
    field: &str,
    place: impl Fn() -> RequestPath,
) -> Result<&'a str, Unsupported> {
    let value = part.get(field).filter(|raw| raw.starts_with('"'));
    value.ok_or_else(|| unsupported(place(), &format!("its '{field}' must be a string")))
}

/// The fields with a value other than the `type` and the `carried` ones.
fn others<'a>(
    part: &'a Object<'_>,
    carried: &'static [&'static str],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    part.iter().filter(|(name, raw)| *raw != "null" && *name != "type" && !carried.contains(name))
}
