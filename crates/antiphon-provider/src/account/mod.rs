//! What one account has with the provider.

mod context;
mod conversation;
mod held;
mod response;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use antiphon_testkit::Refusal;

pub(crate) use context::{Before, Context};
pub(crate) use conversation::Conversation;
pub(crate) use held::Held;
pub(crate) use response::Stored;

use crate::refusals;

/// The conversations and responses of an account, and the items that they hold.
///
/// An item exists as long as a conversation, a response or one that went on from it holds it.
#[derive(Debug, Default)]
pub(crate) struct Account {
    conversations: BTreeMap<String, Conversation>,
    responses: BTreeMap<String, Stored>,
    items: HashMap<String, Weak<Held>>,
}

/// Conversations.
impl Account {
    pub(crate) fn conversation(&self, id: &str) -> Result<&Conversation, Refusal> {
        self.conversations.get(id).ok_or_else(|| refusals::conversation_not_found(id))
    }

    pub(crate) fn conversation_mut(&mut self, id: &str) -> Result<&mut Conversation, Refusal> {
        self.conversations.get_mut(id).ok_or_else(|| refusals::conversation_not_found(id))
    }

    pub(crate) fn add_conversation(&mut self, conversation: Conversation) {
        self.conversations.insert(conversation.id().to_owned(), conversation);
    }

    pub(crate) fn remove_conversation(&mut self, id: &str) -> Result<(), Refusal> {
        let removed = self.conversations.remove(id).map(drop);
        self.forget_items();
        removed.ok_or_else(|| refusals::conversation_not_found(id))
    }
}

/// Responses.
impl Account {
    pub(crate) fn response(&self, id: &str) -> Result<&Stored, Refusal> {
        self.responses.get(id).ok_or_else(|| refusals::response_not_found(id))
    }

    pub(crate) fn response_ids(&self) -> impl Iterator<Item = &str> {
        self.responses.keys().map(String::as_str)
    }

    pub(crate) fn add_response(&mut self, id: &str, stored: Stored) {
        self.responses.insert(id.to_owned(), stored);
    }

    pub(crate) fn remove_response(&mut self, id: &str) -> Result<(), Refusal> {
        let removed = self.responses.remove(id).map(drop);
        self.forget_items();
        removed.ok_or_else(|| refusals::response_not_found(id))
    }
}

/// Items.
impl Account {
    /// The stored item of this id, wherever it is held.
    pub(crate) fn item(&self, id: &str) -> Option<Arc<Held>> {
        self.items.get(id)?.upgrade()
    }

    /// Makes items known by their ids. One that is sent again stays what it was.
    pub(crate) fn know(&mut self, items: &[Arc<Held>]) {
        for item in items {
            let known = self.items.entry(item.id().to_owned()).or_default();
            if known.strong_count() == 0 {
                *known = Arc::downgrade(item);
            }
        }
    }

    pub(crate) fn forget_items(&mut self) {
        self.items.retain(|_, item| item.strong_count() > 0);
    }
}
