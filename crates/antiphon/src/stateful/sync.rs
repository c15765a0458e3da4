//! Asks a server for its items, if they are unknown or stale.

use std::collections::HashSet;

use bytes::Bytes;

use super::history::History;
use super::local_ids::LocalIds;
use crate::item::{FingerprintKey, Item, ItemId};
use crate::placeholder::is_placeholder_item;
use crate::provider_api::{
    ChainOptions, ChainStep, ChainWalk, Cursor, Listing, Segment, ServerError,
};
use crate::transcript::{HeldItem, Origin};

/// The current request.
///
/// ```text
///   Conversation ── a page ──> Conversation ── the last page ──> Items
///   Chain ── a response ──> Chain ── a known response, or the first one ──> Items
///     any ── not found ──> NotFound
///     any ── any other answer ──> NotListed
/// ```
#[derive(Debug)]
pub(super) enum Sync {
    /// The items of a conversation.
    Conversation { id: String, listing: Box<Listing> },
    /// A response, its input, and the responses before it.
    Chain(Box<ChainWalk>),
}

/// The result of an answer.
pub(super) enum Synced {
    /// More requests are needed.
    More(Sync),
    /// All items of the server, after those that were known.
    Items(ListedItems),
    /// The server has nothing with this id.
    NotFound,
    /// The server does not list its items.
    NotListed,
}

/// The items that a server listed.
pub(super) struct ListedItems {
    /// The known items before them.
    known: History,
    items: Vec<Item>,
    /// Whether the response is still running.
    pub(super) is_underway: bool,
}

impl Sync {
    /// Asks for a conversation, including image contents if `has_images`. `None` if the id is
    /// invalid.
    pub(super) fn conversation(id: &str, has_images: bool) -> Option<Self> {
        Segment::parse(id)?;
        let listing = Box::new(Listing::new(Cursor::LastId).with_images(has_images));
        Some(Self::Conversation { id: id.to_owned(), listing })
    }

    /// Asks for a chain of responses. `None` if the id is invalid.
    pub(super) fn chain(id: &str, shows_images: bool) -> Option<Self> {
        let options = ChainOptions { shows_images, reads_conversation: true };
        Some(Self::Chain(Box::new(ChainWalk::new(id, options)?)))
    }

    /// The path of the next request.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Conversation { id, listing } => {
                let id = Segment::parse(id).expect("it was checked");
                let query = listing.query().expect("a complete list is not requested");
                format!("/conversations/{id}/items?{query}")
            }
            Self::Chain(walk) => walk.path(),
        }
    }

    /// Takes the server's answer. `known` returns the known history of a response.
    pub(super) fn take(
        self,
        status: u16,
        body: &Bytes,
        known: impl Fn(&str) -> Option<History>,
    ) -> Synced {
        let (chain, history) = match self {
            Self::Conversation { id, listing } => return take_page(id, listing, status, body),
            Self::Chain(walk) => match walk.take(status, body) {
                ChainStep::Request(walk) => return Synced::More(Self::Chain(walk)),
                ChainStep::Previous(walk, id) => match known(&id) {
                    Some(history) => (walk.finish(), history),
                    None => return Synced::More(Self::Chain(walk)),
                },
                ChainStep::Done(chain) => (chain, History::default()),
                ChainStep::NoResponse => return Synced::NotFound,
                ChainStep::NotListed(_) => return Synced::NotListed,
            },
        };
        let is_underway = chain.is_underway();
        let (mut items, output) = chain.into_items(last_model_item(&history).as_ref());
        items.extend(output);
        Synced::Items(ListedItems { known: history, items, is_underway })
    }
}

fn take_page(id: String, mut listing: Box<Listing>, status: u16, body: &Bytes) -> Synced {
    if status == 404 && ServerError::parse(body).is_missing("conversation", &id) {
        return Synced::NotFound;
    }
    if status != 200 || listing.add(body).is_err() {
        return Synced::NotListed;
    }
    if listing.query().is_some() {
        return Synced::More(Sync::Conversation { id, listing });
    }
    let (known, items) = (History::default(), listing.into_items());
    Synced::Items(ListedItems { known, items, is_underway: false })
}

/// Messages of users are known without the server's ids.
fn last_model_item(history: &History) -> Option<ItemId> {
    let transcript = history.transcript();
    let last = transcript.items().iter().rev().find(|item| item.head.is_model_made());
    last.and_then(|item| item.head.id.clone())
}

impl ListedItems {
    /// The known items and the listed ones. Of several items with one id, the first counts.
    pub(super) fn into_history(self, key: FingerprintKey, ids: &mut LocalIds) -> History {
        let known = self.known.transcript();
        let mut seen: HashSet<ItemId> = known.items().iter().map(|item| item.id.clone()).collect();
        let items = self.items.iter().filter_map(|item| {
            let id = item.head().id.clone().unwrap_or_else(|| ids.issue());
            let origin = is_placeholder_item(item).then(Origin::placeholder);
            seen.insert(id.clone()).then(|| HeldItem::new(id, item, key, origin))
        });
        let items: Vec<HeldItem> = items.collect();
        self.known.with(items)
    }
}
