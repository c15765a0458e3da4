//! Checks the content of messages and of call outputs: a string, or a list of parts.
//!
//! A part that no provider accepts would fail in every later turn of its conversation, so it is
//! rejected before it is stored. Parts of unknown types are accepted.

use antiphon::Item;
use antiphon::item::TextField;
use antiphon::json::{self, Object};
use serde_json::value::RawValue;

use super::tools::typed_object;
use super::wrong_type;
use crate::error::ApiError;

/// The sources of a file. Source: the Open Responses specification; a file has exactly one.
const FILE: [&str; 3] = ["file_id", "file_url", "file_data"];

/// Checks the content of the item at `path`, if its kind has content.
pub(super) fn check_content(item: &Item, path: &str) -> Result<(), ApiError> {
    let Some(TextField::Parts(key)) = item.head().kind.text_field() else { return Ok(()) };
    let object = item.object();
    let path = format!("{path}.{key}");
    match object.present(key) {
        None => Err(ApiError::MissingParameter { name: path.clone() }),
        Some(raw) if raw.starts_with('"') => Ok(()),
        Some(raw) if raw.starts_with('[') => check_parts(raw, &path),
        Some(raw) => Err(wrong_type(&path, "a string or an array", raw)),
    }
}

fn check_parts(raw: &str, path: &str) -> Result<(), ApiError> {
    let parts: Vec<&RawValue> = serde_json::from_str(raw).map_err(|_| ApiError::NotJson)?;
    for (position, part) in parts.iter().enumerate() {
        let path = format!("{path}[{position}]");
        check_part(&typed_object(&path, part.get())?, &path)?;
    }
    Ok(())
}

fn check_part(part: &Object<'_>, path: &str) -> Result<(), ApiError> {
    match part.string("type").as_deref() {
        Some("input_text" | "output_text") => check_text(part, path),
        Some("input_image") => check_image(part, path),
        Some("input_file") => check_file(part, path),
        _ => Ok(()),
    }
}

fn check_text(part: &Object<'_>, path: &str) -> Result<(), ApiError> {
    let path = format!("{path}.text");
    match part.present("text") {
        None => Err(ApiError::MissingParameter { name: path.clone() }),
        Some(raw) if raw.starts_with('"') => Ok(()),
        Some(raw) => Err(wrong_type(&path, "a string", raw)),
    }
}

/// Checks that an image has a `file_id` or a URL (`https:`, `http:`, or `data:` with the image in
/// it).
fn check_image(part: &Object<'_>, path: &str) -> Result<(), ApiError> {
    check_strings(part, &["file_id", "image_url", "detail"], path)?;
    let path = format!("{path}.image_url");
    match part.string("image_url") {
        Some(url) if !is_url(&url) => Err(ApiError::InvalidUrl { path }),
        None if part.present("file_id").is_none() => {
            Err(ApiError::MissingParameter { name: path.clone() })
        }
        _ => Ok(()),
    }
}

fn is_url(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("data" | "http" | "https"))
}

fn check_file(part: &Object<'_>, path: &str) -> Result<(), ApiError> {
    check_strings(part, &FILE, path)?;
    check_strings(part, &["filename"], path)?;
    let given: Vec<&str> = FILE.into_iter().filter(|key| part.present(key).is_some()).collect();
    match given[..] {
        [] => Err(ApiError::MissingFile { path: path.into() }),
        ["file_data"] if part.present("filename").is_none() => {
            Err(ApiError::MissingParameter { name: format!("{path}.filename") })
        }
        [_] => Ok(()),
        _ => Err(ApiError::MutuallyExclusive {
            path: Some(path.into()),
            given: given.join("', '"),
            choices: "'file_id' or 'file_url' or 'file_data'",
        }),
    }
}

fn check_strings(part: &Object<'_>, keys: &[&str], path: &str) -> Result<(), ApiError> {
    for key in keys {
        if let Some(raw) = part.present(key).filter(|raw| json::type_name(raw) != "a string") {
            return Err(wrong_type(&format!("{path}.{key}"), "a string", raw));
        }
    }
    Ok(())
}
