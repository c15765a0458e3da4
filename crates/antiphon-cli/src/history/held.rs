//! The items that the server holds before a history.

use std::path::Path;

use antiphon::Transcript;
use antiphon::repair::Held;

use super::document::Document;
use super::input;
use super::notice::Notices;
use crate::failure::Failure;

/// Reads the held items from the file at `path`.
pub(super) fn read(path: Option<&Path>) -> Result<Option<Transcript>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let held = input::read(path)?;
    Notices::for_check().print(&path.display().to_string(), &held);
    Ok(Some(antiphon_surface::history::transcript(&held.items)))
}

/// The items that the server holds before the history.
///
/// These are the items of `--held` if given. Otherwise, if the history refers to earlier items on a
/// server, they are [`Held::Unknown`]. `None` means that the history is complete.
pub(super) fn before<'a>(
    history: &Document,
    transcript: Option<&'a Transcript>,
) -> Option<Held<'a>> {
    if transcript.is_none() && history.marker.is_some() {
        return Some(Held::Unknown);
    }
    antiphon_surface::history::before(&history.items, transcript)
}
