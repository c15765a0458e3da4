//! Asks a server for its items, if they are unknown or uncertain.

use bytes::Bytes;

use super::admission::LocalIds;
use super::history::History;
use super::said::Said;
use super::walk::{Walk, Walked};
use super::{Method, Step};
use crate::item::{FingerprintKey, Item};
use crate::placeholder::is_placeholder_item;
use crate::provider_api::{Cursor, Listing, Segment};
use crate::transcript::{HeldItem, Origin};

/// The current question.
///
/// ```text
///   Conversation ── a page ──> Conversation ── the last page ──> Learnt::All
///   Chain ── a response ──> Chain ── a known response, or the first one ──> Learnt::All
///     any ── not found ──> Learnt::NoSuch
///     any ── any other answer ──> Learnt::Untold
/// ```
#[derive(Debug)]
pub(super) enum Learning {
    /// The items of a conversation.
    Conversation { id: String, listing: Listing },
    /// A response, its input, and the responses before it.
    Chain(Walk),
}

/// The result of an answer.
pub(super) enum Learnt {
    /// More requests are needed.
    NotYet(Box<Learning>),
    /// All items of the server, after those that were known.
    All(Held),
    /// The server has nothing with this id.
    NoSuch,
    /// The server does not list its items.
    Untold,
}

/// The items that a server listed.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The known items before them.
    pub(super) behind: History,
    /// The items.
    pub(super) items: Vec<Item>,
    /// Whether the response is still running.
    pub(super) is_underway: bool,
}

impl Learning {
    /// Asks for a conversation, including image contents if `has_images`. `None` if the id is
    /// invalid.
    pub(super) fn of_conversation(id: &str, has_images: bool) -> Option<Self> {
        Segment::parse(id)?;
        let listing = Listing::new(Cursor::LastId).with_images(has_images);
        Some(Self::Conversation { id: id.to_owned(), listing })
    }

    /// The next request.
    pub(super) fn step(&self) -> Step {
        let path = match self {
            Self::Conversation { id, listing } => {
                let id = Segment::parse(id).expect("it was checked");
                let query = listing.query().expect("a list that is whole is not asked for");
                format!("/conversations/{id}/items?{query}")
            }
            Self::Chain(walk) => walk.path(),
        };
        Step::Ask { method: Method::Get, path, body: None }
    }

    /// Takes the server's answer. `known` returns the known history of a response.
    pub(super) fn answered(
        self,
        status: u16,
        body: &Bytes,
        known: impl Fn(&str) -> Option<History>,
    ) -> Learnt {
        match self {
            Self::Conversation { id, listing } => page_of(id, listing, status, body),
            Self::Chain(walk) => match walk.answered(status, body, known) {
                Walked::On(walk) => Learnt::NotYet(Box::new(Self::Chain(*walk))),
                Walked::Through(held) => Learnt::All(held),
                Walked::NoSuch => Learnt::NoSuch,
                Walked::Untold => Learnt::Untold,
            },
        }
    }
}

fn page_of(id: String, mut listing: Listing, status: u16, body: &Bytes) -> Learnt {
    match status {
        200 => {}
        404 if Said::in_body(body).tells_of_no("conversation", &id) => return Learnt::NoSuch,
        _ => return Learnt::Untold,
    }
    if listing.add(body).is_err() {
        return Learnt::Untold;
    }
    if listing.query().is_some() {
        return Learnt::NotYet(Box::new(Learning::Conversation { id, listing }));
    }
    Learnt::All(Held { items: listing.into_items(), ..Held::default() })
}

impl Held {
    /// Converts the items into a history. Of several items with one id, the first counts.
    pub(super) fn history(self, key: FingerprintKey, ids: &mut LocalIds) -> History {
        let before = self.behind.transcript();
        let mut seen: std::collections::HashSet<_> =
            before.items().iter().map(|item| item.id.clone()).collect();
        let items = self.items.iter().filter_map(|item| {
            let id = item.head().id.clone().unwrap_or_else(|| ids.issue());
            let origin = is_placeholder_item(item).then(Origin::placeholder);
            let held = || HeldItem::new(id.clone(), item, key, origin).without_body();
            seen.insert(id.clone()).then(held)
        });
        let items: Vec<HeldItem> = items.collect();
        self.behind.with(items)
    }
}
