//! What the server holds before a history.

use std::path::Path;

use antiphon::Transcript;
use antiphon::repair::Held;

use super::document::Document;
use super::input;
use super::notice::Notices;
use crate::failure::Failure;

/// What `path` says that the server holds.
pub(super) fn read(path: Option<&Path>) -> Result<Option<Transcript>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let held = input::read(path)?;
    Notices::of_reading().tell(&path.display().to_string(), &held);
    Ok(Some(antiphon_surface::history::transcript(&held.items)))
}

/// What is held before the history: what was said to be, or, where the history says itself that
/// something is, what nobody can tell. `None` where it stands for itself.
pub(super) fn before<'a>(
    history: &Document,
    transcript: Option<&'a Transcript>,
) -> Option<Held<'a>> {
    if transcript.is_none() && history.marker.is_some() {
        return Some(Held::Unknown);
    }
    antiphon_surface::history::before(&history.items, transcript)
}
