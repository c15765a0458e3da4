//! One conversation.

use std::sync::Arc;

use serde_json::{Value, json};

use super::StoredItem;
use crate::Refusal;

/// A conversation: its items, and a lock that an open turn holds.
#[derive(Debug)]
pub(crate) struct Conversation {
    id: String,
    created_at: u64,
    metadata: Value,
    items: Vec<Arc<StoredItem>>,
    is_locked: bool,
}

impl Conversation {
    pub(crate) fn new(
        id: String,
        created_at: u64,
        metadata: Value,
        items: Vec<Arc<StoredItem>>,
    ) -> Self {
        Self { id, created_at, metadata, items, is_locked: false }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn items(&self) -> &[Arc<StoredItem>] {
        &self.items
    }

    pub(crate) fn item(&self, id: &str) -> Result<&Arc<StoredItem>, Refusal> {
        let item = self.items.iter().find(|item| item.id() == id);
        item.ok_or_else(|| Refusal::item_not_in_conversation(id))
    }

    /// The conversation object of the API.
    pub(crate) fn object(&self) -> Value {
        json!({
            "id": self.id,
            "object": "conversation",
            "created_at": self.created_at,
            "metadata": self.metadata,
        })
    }

    pub(crate) fn set_metadata(&mut self, metadata: Value) {
        self.metadata = metadata;
    }

    pub(crate) fn append(&mut self, items: impl IntoIterator<Item = Arc<StoredItem>>) {
        self.items.extend(items);
    }

    pub(crate) fn remove(&mut self, id: &str) -> Result<(), Refusal> {
        self.item(id)?;
        self.items.retain(|item| item.id() != id);
        Ok(())
    }

    /// Fails while a turn of the conversation is open.
    pub(crate) fn ensure_unlocked(&self) -> Result<(), Refusal> {
        if self.is_locked { Err(Refusal::conversation_locked()) } else { Ok(()) }
    }

    /// Locks the conversation when a turn begins and unlocks it when the turn ends.
    pub(crate) fn set_locked(&mut self, is_locked: bool) {
        self.is_locked = is_locked;
    }
}
