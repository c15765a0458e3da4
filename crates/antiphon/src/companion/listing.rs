//! Lists of items, which come in pages.

use std::collections::HashSet;

use bytes::Bytes;

use super::segment::Escaped;
use crate::item::{Item, items_of};
use crate::json::{Object, unquote};

/// How many items a page is asked to have: as many as a page may.
const PAGE: usize = 100;

/// How many pages a list may have.
const MAX_PAGES: usize = 1_000;

/// The bytes of all pages of a list.
const MAX_BYTES: usize = 256 << 20;

/// How a list names what the next page begins behind. Source: the provider's clients, which go by one
/// or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cursor {
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
pub(super) struct Listing {
    cursor: Cursor,
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

/// What was answered is no list, or none that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoList;

impl Listing {
    /// Of which nothing has come.
    pub(super) fn by(cursor: Cursor) -> Self {
        let (items, seen) = (Vec::new(), HashSet::new());
        Self { cursor, state: State::Begun, items, seen, bytes: 0 }
    }

    /// The query of the next request; `None` once the list is whole.
    pub(super) fn query(&self) -> Option<String> {
        match &self.state {
            State::Begun => Some(format!("order=asc&limit={PAGE}")),
            State::GoingOn { after } => {
                Some(format!("order=asc&limit={PAGE}&after={}", Escaped(after)))
            }
            State::Whole => None,
        }
    }

    /// The next page has come. The bytes of its items are slices of it.
    pub(super) fn add(&mut self, page: &Bytes) -> Result<(), NoList> {
        self.bytes += page.len();
        if self.bytes > MAX_BYTES {
            return Err(NoList);
        }
        let fields = Object::parse(page).map_err(|_| NoList)?;
        let data = fields.get("data").ok_or(NoList)?;
        let items = items_of(&page.slice_ref(data.as_bytes())).map_err(|_| NoList)?;
        self.state = match fields.is_true("has_more") {
            true => State::GoingOn { after: self.end_of(&fields, &items)? },
            false => State::Whole,
        };
        self.items.extend(items);
        Ok(())
    }

    /// All items.
    pub(super) fn into_items(self) -> Vec<Item> {
        self.items
    }

    /// Where a page ends behind which there are more.
    fn end_of(&mut self, page: &Object<'_>, items: &[Item]) -> Result<String, NoList> {
        let last = items.last().ok_or(NoList)?;
        let last_id = || page.string("last_id").map(String::from);
        // Not the head's: that of some kinds has no id of their own.
        let of_data = || last.object().get("id").and_then(unquote).map(String::from);
        let end = match self.cursor {
            Cursor::LastId => last_id().or_else(of_data),
            Cursor::LastOfData => of_data().or_else(last_id),
        };
        let end = end.ok_or(NoList)?;
        let is_another = self.seen.insert(end.clone()) && self.seen.len() < MAX_PAGES;
        is_another.then_some(end).ok_or(NoList)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(ids: &[&str], rest: &str) -> Bytes {
        let item = |id: &&str| format!(r#"{{"type":"message","role":"user","id":"{id}"}}"#);
        let data: Vec<String> = ids.iter().map(item).collect();
        format!(r#"{{"data":[{}]{rest}}}"#, data.join(",")).into()
    }

    #[test]
    fn pages_are_asked_for_until_there_are_no_more() {
        let mut listing = Listing::by(Cursor::LastId);
        assert_eq!(listing.query().as_deref(), Some("order=asc&limit=100"));
        listing.add(&page(&["msg_1"], r#","last_id":"a/b","has_more":true"#)).unwrap();
        assert_eq!(listing.query().as_deref(), Some("order=asc&limit=100&after=a%2Fb"));
        listing.add(&page(&["msg_2"], "")).unwrap();
        assert_eq!(listing.query(), None);
        assert_eq!(listing.into_items().len(), 2);
    }

    #[test]
    fn a_list_that_would_not_end_is_none() {
        let endless = page(&["msg_1"], r#","has_more":true"#);
        let mut listing = Listing::by(Cursor::LastOfData);
        listing.add(&endless).unwrap();
        assert_eq!(listing.add(&endless), Err(NoList));
        let mut empty = Listing::by(Cursor::LastOfData);
        assert_eq!(empty.add(&page(&[], r#","has_more":true"#)), Err(NoList));
        assert_eq!(empty.add(&Bytes::from_static(b"[]")), Err(NoList));
    }
}
