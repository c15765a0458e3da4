//! Lists of items, page by page.

use std::collections::HashSet;

use bytes::Bytes;

use super::UnexpectedAnswer;
use super::segment::escaped;
use crate::item::{Item, parse_items};
use crate::json::{Object, unquote};

/// The number of items to request per page: the maximum.
const PAGE: usize = 100;

/// The limit of pages per list. It allows as many items as a request may have by default.
const MAX_PAGES: usize = 1_000;

/// The limit of bytes of all pages of a list. Each page has the size limit of an answer as well.
const MAX_BYTES: usize = 256 << 20;

/// Includes the URLs of images in messages.
const IMAGES: &str = "&include%5B%5D=message.input_image.image_url";

/// The field of a page that contains the cursor for the next page. Source: the provider's clients,
/// which use one or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// `last_id`: items of conversations.
    LastId,
    /// The `id` of the last of `data`: input items of responses.
    LastOfData,
}

/// A list that is being read: the items so far, and the query for the next page.
///
/// ```text
///   Start ── page, has_more ──> Partial ── page, has_more ──> Partial
///     └───────── page ─────────────┴─────────── page ──────────> Complete
/// ```
///
/// Reading ends for all answers of a server: a page with `has_more` has to contain an item
/// and to end with a new id, and the numbers of pages and bytes are bounded.
#[derive(Debug)]
pub struct Listing {
    cursor: Cursor,
    shows_images: bool,
    state: State,
    items: Vec<Item>,
    /// The cursors so far.
    seen: HashSet<String>,
    bytes: usize,
}

#[derive(Debug)]
enum State {
    Start,
    Partial { after: String },
    Complete,
}

impl Listing {
    /// A list of which no page has been read.
    pub fn new(cursor: Cursor) -> Self {
        let (items, seen) = (Vec::new(), HashSet::new());
        Self { cursor, shows_images: false, state: State::Start, items, seen, bytes: 0 }
    }

    /// Sets whether messages include the URLs of their images, which lists omit by default. Source:
    /// the provider's reference.
    #[must_use]
    pub fn with_images(self, shows_images: bool) -> Self {
        Self { shows_images, ..self }
    }

    /// The query of the next request; `None` once the list is complete.
    pub fn query(&self) -> Option<String> {
        let after = match &self.state {
            State::Start => String::new(),
            State::Partial { after } => format!("&after={}", escaped(after)),
            State::Complete => return None,
        };
        let images = if self.shows_images { IMAGES } else { "" };
        Some(format!("order=asc&limit={PAGE}{images}{after}"))
    }

    /// Adds the next page. The bytes of its items are slices of it.
    pub fn add(&mut self, page: &Bytes) -> Result<(), UnexpectedAnswer> {
        self.bytes += page.len();
        if self.bytes > MAX_BYTES {
            return Err(garbled(format!("a list of more than {MAX_BYTES} bytes")));
        }
        let fields =
            Object::parse(page).map_err(|error| garbled(format!("not a list: {error}")))?;
        let data = fields.get("data").ok_or_else(|| garbled("a list without 'data'"))?;
        let items = parse_items(&page.slice_ref(data.as_bytes()));
        let items =
            items.map_err(|error| garbled(format!("a list with invalid 'data': {error}")))?;
        self.state = match fields.is_true("has_more") {
            true => State::Partial { after: self.end_of(&fields, &items)? },
            false => State::Complete,
        };
        self.items.extend(items);
        Ok(())
    }

    /// All items.
    pub fn into_items(self) -> Vec<Item> {
        self.items
    }

    /// The cursor after a page with `has_more`.
    fn end_of(&mut self, page: &Object<'_>, items: &[Item]) -> Result<String, UnexpectedAnswer> {
        let Some(last) = items.last() else {
            return Err(garbled("an empty page of a list, with 'has_more'"));
        };
        let last_id = || page.string("last_id").map(String::from);
        // Not the head's id, which is absent for some kinds.
        let of_data = || last.object().get("id").and_then(unquote).map(String::from);
        let end = match self.cursor {
            Cursor::LastId => last_id().or_else(of_data),
            Cursor::LastOfData => of_data().or_else(last_id),
        };
        let end =
            end.ok_or_else(|| garbled("a page of a list with 'has_more', but without an id"))?;
        if !self.seen.insert(end.clone()) {
            return Err(garbled("a page of a list that ends with the same id as an earlier one"));
        }
        if self.seen.len() >= MAX_PAGES {
            return Err(garbled(format!("a list of more than {MAX_PAGES} pages")));
        }
        Ok(end)
    }
}

fn garbled(what: impl Into<String>) -> UnexpectedAnswer {
    UnexpectedAnswer::as_is(what)
}

#[cfg(test)]
mod tests;
