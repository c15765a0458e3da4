//! Lists of items, which come in pages.

use std::collections::HashSet;

use bytes::Bytes;

use super::Garbled;
use super::segment::escaped;
use crate::item::{Item, items_of};
use crate::json::{Object, unquote};

/// How many items a page is asked to have: as many as a page may.
const PAGE: usize = 100;

/// How many pages a list may have: as many items as a request may, by default.
const MAX_PAGES: usize = 1_000;

/// The bytes of all pages of a list. Each is bounded besides, as every answer is.
const MAX_BYTES: usize = 256 << 20;

/// Asks for what images of messages show.
const IMAGES: &str = "&include%5B%5D=message.input_image.image_url";

/// How a list names what the next page begins behind. Source: the provider's clients, which go by one
/// or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// `last_id`: items of conversations.
    LastId,
    /// The `id` of the last of `data`: input items of responses.
    LastOfData,
}

/// A list on its way: what has come of it, and what to ask for next.
///
/// ```text
///   Begun ── page, has_more ──> GoingOn ── page, has_more ──> GoingOn
///     └───────── page ─────────────┴─────────── page ──────────> Whole
/// ```
///
/// It comes to an end whatever a server answers: a page that says there is more has to hold something, and
/// to end where no page did before it; pages and bytes are bounded.
#[derive(Debug)]
pub struct Listing {
    cursor: Cursor,
    shows_images: bool,
    state: State,
    items: Vec<Item>,
    /// Where pages ended.
    seen: HashSet<String>,
    bytes: usize,
}

#[derive(Debug)]
enum State {
    Begun,
    GoingOn { after: String },
    Whole,
}

impl Listing {
    /// Of which nothing has come.
    pub fn by(cursor: Cursor) -> Self {
        let (items, seen) = (Vec::new(), HashSet::new());
        Self { cursor, shows_images: false, state: State::Begun, items, seen, bytes: 0 }
    }

    /// Whether messages come with what their images show, which lists leave out unless they are asked for
    /// it. Source: the provider's reference.
    #[must_use]
    pub fn with_images(self, shows_images: bool) -> Self {
        Self { shows_images, ..self }
    }

    /// The query of the next request; `None` once the list is whole.
    pub fn query(&self) -> Option<String> {
        let after = match &self.state {
            State::Begun => String::new(),
            State::GoingOn { after } => format!("&after={}", escaped(after)),
            State::Whole => return None,
        };
        let images = if self.shows_images { IMAGES } else { "" };
        Some(format!("order=asc&limit={PAGE}{images}{after}"))
    }

    /// The next page has come. The bytes of its items are slices of it.
    pub fn add(&mut self, page: &Bytes) -> Result<(), Garbled> {
        self.bytes += page.len();
        if self.bytes > MAX_BYTES {
            return Err(garbled(format!("a list of more than {MAX_BYTES} bytes")));
        }
        let fields = Object::parse(page).map_err(|error| garbled(format!("no list: {error}")))?;
        let data = fields.get("data").ok_or_else(|| garbled("a list without 'data'"))?;
        let items = items_of(&page.slice_ref(data.as_bytes()));
        let items =
            items.map_err(|error| garbled(format!("a list whose 'data' are no items: {error}")))?;
        self.state = match fields.is_true("has_more") {
            true => State::GoingOn { after: self.end_of(&fields, &items)? },
            false => State::Whole,
        };
        self.items.extend(items);
        Ok(())
    }

    /// All items.
    pub fn into_items(self) -> Vec<Item> {
        self.items
    }

    /// Where a page ends behind which there are more.
    fn end_of(&mut self, page: &Object<'_>, items: &[Item]) -> Result<String, Garbled> {
        let Some(last) = items.last() else {
            return Err(garbled("an empty page of a list, with more behind it"));
        };
        let last_id = || page.string("last_id").map(String::from);
        // Not the head's: that of some kinds has no id of their own.
        let of_data = || last.object().get("id").and_then(unquote).map(String::from);
        let end = match self.cursor {
            Cursor::LastId => last_id().or_else(of_data),
            Cursor::LastOfData => of_data().or_else(last_id),
        };
        let end = end.ok_or_else(|| garbled("a page of a list with no id to go on behind"))?;
        if !self.seen.insert(end.clone()) {
            return Err(garbled("a page of a list that ends where one before it did"));
        }
        if self.seen.len() >= MAX_PAGES {
            return Err(garbled(format!("a list of more than {MAX_PAGES} pages")));
        }
        Ok(end)
    }
}

fn garbled(what: impl Into<String>) -> Garbled {
    Garbled::as_is(what)
}

#[cfg(test)]
mod tests;
