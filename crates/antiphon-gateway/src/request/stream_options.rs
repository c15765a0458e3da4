//! `stream_options`.

use antiphon::json::Object;
use antiphon::stream::Obfuscation;

use super::wrong;
use crate::error::ApiError;

/// Checks that the only option is a boolean.
pub(super) fn check_stream_options(fields: &Object<'_>) -> Result<(), ApiError> {
    match include_obfuscation(fields).as_deref() {
        None | Some("true" | "false") => Ok(()),
        Some(raw) => Err(wrong("stream_options.include_obfuscation", "a boolean", raw)),
    }
}

/// The obfuscation mode of the stream's deltas.
pub(super) fn obfuscation(fields: &Object<'_>) -> Obfuscation {
    match include_obfuscation(fields).as_deref() {
        Some("true") => Obfuscation::Padded,
        Some("false") => Obfuscation::Plain,
        _ => Obfuscation::AsItComes,
    }
}

fn include_obfuscation(fields: &Object<'_>) -> Option<String> {
    let options = Object::parse(fields.present("stream_options")?.as_bytes()).ok()?;
    options.present("include_obfuscation").map(str::to_owned)
}
