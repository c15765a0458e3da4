//! Converts the content of a message into the content of an item.

use serde_json::value::RawValue;

use super::{Flaw, string};
use crate::dialect::chat::fields::{Fields, array};
use crate::json::Object;

/// The author of a content, which decides the type of its text parts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// A user, a tool or instructions.
    Client,
    /// The assistant.
    Model,
}

/// Converts a content into raw JSON: a string stays unchanged, an array is converted part by part.
pub(super) fn convert(content: Option<&str>, author: Author) -> Result<String, Flaw> {
    match content {
        None => Ok(r#""""#.into()),
        Some(text) if text.starts_with('"') => Ok(text.into()),
        Some(_) => parts(content, author).map(array),
    }
}

/// Converts a content into parts. An empty text has none.
pub(super) fn parts(content: Option<&str>, author: Author) -> Result<Vec<String>, Flaw> {
    match content {
        None | Some(r#""""#) => Ok(Vec::new()),
        Some(text) if text.starts_with('"') => Ok(vec![text_part(text, author, [])]),
        Some(content) => {
            let parts: Vec<&RawValue> = serde_json::from_str(content)
                .map_err(|_| Flaw::new(".content", "expected a string or an array"))?;
            let parts = parts.iter().enumerate();
            parts.map(|(nth, raw)| part(raw.get(), author, &format!(".content[{nth}]"))).collect()
        }
    }
}

fn part(raw: &str, author: Author, path: &str) -> Result<String, Flaw> {
    let part = Object::parse(raw.as_bytes()).map_err(|_| Flaw::new(path, "expected an object"))?;
    match (part.string("type").as_deref(), author) {
        (Some("text"), _) => {
            Ok(text_part(string(&part, "text", path)?, author, others(&part, "text")))
        }
        (Some("refusal"), Author::Model) => {
            let refusal = string(&part, "refusal", path)?;
            Ok(Fields::with_type("refusal").raw("refusal", refusal).json())
        }
        (Some("image_url"), Author::Client) => image(&part, path),
        (Some("file"), Author::Client) => file(&part, path),
        (Some("input_audio"), Author::Client) => Ok(raw.to_owned()),
        (kind, _) => {
            let kind = kind.unwrap_or_default();
            Err(Flaw::new(path, format!("a part of type '{kind}' is not supported here")))
        }
    }
}

fn text_part<'a>(
    text: &str,
    author: Author,
    others: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> String {
    match author {
        Author::Client => Fields::with_type("input_text").raw("text", text).all(others).json(),
        Author::Model => {
            let mut part = Fields::with_type("output_text");
            part.raw("text", text).raw("annotations", "[]").all(others).json()
        }
    }
}

/// Converts an image. Some clients send the URL without an object around it.
fn image(part: &Object<'_>, path: &str) -> Result<String, Flaw> {
    let image = part.get("image_url").unwrap_or_default();
    let mut item = Fields::with_type("input_image");
    if image.starts_with('"') {
        item.raw("image_url", image);
    } else {
        let path = format!("{path}.image_url");
        let image =
            Object::parse(image.as_bytes()).map_err(|_| Flaw::new(&*path, "expected an object"))?;
        item.raw("image_url", string(&image, "url", &path)?);
        item.present("detail", image.present("detail"));
    }
    Ok(item.all(others(part, "image_url")).json())
}

fn file(part: &Object<'_>, path: &str) -> Result<String, Flaw> {
    let file = Object::parse(part.get("file").unwrap_or_default().as_bytes());
    let file = file.map_err(|_| Flaw::new(format!("{path}.file"), "expected an object"))?;
    let mut item = Fields::with_type("input_file");
    for name in ["file_data", "file_id", "filename"] {
        item.present(name, file.present(name));
    }
    Ok(item.all(others(part, "file")).json())
}

/// The fields with a value other than the `type` and `carried`.
fn others<'a>(
    part: &'a Object<'_>,
    carried: &'static str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    part.iter().filter(move |(name, raw)| *raw != "null" && *name != "type" && *name != carried)
}
