//! Asks a server for its items, if they are unknown or stale.

use std::collections::HashSet;

use bytes::Bytes;

use super::history::History;
use super::local_ids::LocalIds;
use super::request::Continues;
use crate::item::{FingerprintKey, Item, ItemId};
use crate::placeholder::is_placeholder_item;
use crate::provider_api::{ChainOptions, ChainStep, ChainWalk};
use crate::transcript::{HeldItem, Origin};

/// The requests for the items of a conversation, or of a chain of responses.
#[derive(Debug)]
pub(super) struct Sync(Box<ChainWalk>);

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
    /// Asks for the items that a request continues, with or without the contents of images. `None`
    /// if it continues nothing, or the id is invalid.
    pub(super) fn new(continues: &Continues, shows_images: bool) -> Option<Self> {
        let options = ChainOptions { shows_images, reads_conversation: true };
        let walk = match continues {
            Continues::Conversation(id) => ChainWalk::conversation(id, options),
            Continues::Response(id) => ChainWalk::new(id, options),
            Continues::Nothing | Continues::Unclear => None,
        };
        walk.map(|walk| Self(Box::new(walk)))
    }

    /// The path of the next request.
    pub(super) fn path(&self) -> String {
        self.0.path()
    }

    /// Takes the server's answer. `known` returns the known history of a response.
    pub(super) fn take(
        self,
        status: u16,
        body: &Bytes,
        known: impl Fn(&str) -> Option<History>,
    ) -> Synced {
        let (chain, history) = match self.0.take(status, body) {
            ChainStep::Request(walk) => return Synced::More(Self(walk)),
            ChainStep::Previous(walk, id) => match known(&id) {
                Some(history) => (walk.finish(), history),
                None => return Synced::More(Self(walk)),
            },
            ChainStep::Done(chain) => (chain, History::default()),
            ChainStep::NotFound => return Synced::NotFound,
            ChainStep::NotListed(_) => return Synced::NotListed,
        };
        let is_underway = chain.is_underway();
        let (mut items, output) = chain.into_items(last_model_item(&history).as_ref());
        items.extend(output);
        Synced::Items(ListedItems { known: history, items, is_underway })
    }
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
