//! The state of the accounts.

mod conversation;
mod item;
mod response;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use crate::Refusal;
use crate::ids::Ids;

pub(crate) use conversation::Conversation;
pub(crate) use item::StoredItem;
pub(crate) use response::{Before, Context, StoredResponse};

/// The conversations, responses and items of one account.
///
/// An item exists as long as a conversation, a response or a later response of a chain owns it.
#[derive(Debug, Default)]
pub(crate) struct Account {
    conversations: BTreeMap<String, Conversation>,
    responses: BTreeMap<String, StoredResponse>,
    items: HashMap<String, Weak<StoredItem>>,
}

/// Conversations.
impl Account {
    pub(crate) fn conversation(&self, id: &str) -> Result<&Conversation, Refusal> {
        self.conversations.get(id).ok_or_else(|| Refusal::conversation_not_found(id))
    }

    pub(crate) fn conversation_mut(&mut self, id: &str) -> Result<&mut Conversation, Refusal> {
        self.conversations.get_mut(id).ok_or_else(|| Refusal::conversation_not_found(id))
    }

    pub(crate) fn add_conversation(&mut self, conversation: Conversation) {
        self.conversations.insert(conversation.id().to_owned(), conversation);
    }

    pub(crate) fn remove_conversation(&mut self, id: &str) -> Result<(), Refusal> {
        let removed = self.conversations.remove(id).map(drop);
        self.drop_unowned_items();
        removed.ok_or_else(|| Refusal::conversation_not_found(id))
    }
}

/// Responses.
impl Account {
    pub(crate) fn response(&self, id: &str) -> Result<&StoredResponse, Refusal> {
        self.responses.get(id).ok_or_else(|| Refusal::response_not_found(id))
    }

    pub(crate) fn response_ids(&self) -> impl Iterator<Item = &str> {
        self.responses.keys().map(String::as_str)
    }

    pub(crate) fn add_response(&mut self, id: &str, stored: StoredResponse) {
        self.responses.insert(id.to_owned(), stored);
    }

    pub(crate) fn remove_response(&mut self, id: &str) -> Result<(), Refusal> {
        let removed = self.responses.remove(id).map(drop);
        self.drop_unowned_items();
        removed.ok_or_else(|| Refusal::response_not_found(id))
    }
}

/// Items.
impl Account {
    /// The stored item with this id, in any conversation or response.
    pub(crate) fn item(&self, id: &str) -> Option<Arc<StoredItem>> {
        self.items.get(id)?.upgrade()
    }

    /// Registers items by id. An id that is already registered keeps its first item.
    pub(crate) fn register_items(&mut self, items: &[Arc<StoredItem>]) {
        for item in items {
            let known = self.items.entry(item.id().to_owned()).or_default();
            if known.strong_count() == 0 {
                *known = Arc::downgrade(item);
            }
        }
    }

    pub(crate) fn drop_unowned_items(&mut self) {
        self.items.retain(|_, item| item.strong_count() > 0);
    }
}

/// The accounts of all tokens, and the source of their ids.
#[derive(Debug)]
pub(crate) struct Accounts {
    pub(crate) ids: Ids,
    by_token: BTreeMap<String, Account>,
}

impl Accounts {
    pub(crate) fn new(ids: Ids) -> Self {
        Self { ids, by_token: BTreeMap::new() }
    }

    /// The account of a token. An account is created empty.
    pub(crate) fn account(&mut self, token: &str) -> (&mut Account, &mut Ids) {
        (self.by_token.entry(token.to_owned()).or_default(), &mut self.ids)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Account> {
        self.by_token.values()
    }

    pub(crate) fn tokens(&self) -> impl Iterator<Item = &String> {
        self.by_token.keys()
    }
}
