//! State that the clients share: conversations to use and responses to continue.

use std::collections::VecDeque;

use crate::ledger::{ItemRecord, calls_in, messages_in};
use crate::mark::Mark;

/// A conversation that several clients use.
#[derive(Debug, Default)]
pub(crate) struct OpenConversation {
    /// The conversation's id.
    pub(crate) id: String,
    /// Unanswered calls, grouped by turn.
    pub(crate) waiting: Vec<Vec<String>>,
    /// Messages that may be deleted: id and mark.
    messages: Vec<(String, Mark)>,
}

/// A response that a chain may continue.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChainEnd {
    /// The response's id.
    pub(crate) id: String,
    /// The calls of its turn.
    pub(crate) calls: Vec<String>,
    /// The number of turns before it.
    pub(crate) depth: usize,
}

/// The maximum number of turns in a chain.
const DEPTH: usize = 12;
/// The maximum number of responses to choose from.
const CHAIN_ENDS: usize = 24;

/// The state that the clients share.
#[derive(Debug, Default)]
pub(crate) struct SharedState {
    /// The conversations.
    pub(crate) open: Vec<OpenConversation>,
    chain_ends: VecDeque<ChainEnd>,
}

impl SharedState {
    /// Adds a new conversation.
    pub(crate) fn add_conversation(&mut self, id: String) {
        self.open.push(OpenConversation { id, ..OpenConversation::default() });
    }

    /// A random response to continue, usually a recent one.
    pub(crate) fn chain_end(&self, rng: &mut fastrand::Rng) -> Option<ChainEnd> {
        let newest = self.chain_ends.len().checked_sub(1)?;
        let back = rng.usize(..CHAIN_ENDS).min(rng.usize(..CHAIN_ENDS)).min(newest);
        self.chain_ends.get(newest - back).cloned()
    }

    /// Adds a response that a chain may continue.
    pub(crate) fn add_chain_end(&mut self, chain_end: ChainEnd) {
        if chain_end.depth < DEPTH {
            self.chain_ends.push_back(chain_end);
        }
        if self.chain_ends.len() > CHAIN_ENDS {
            self.chain_ends.pop_front();
        }
    }

    /// Notes the items that were added to a conversation.
    pub(crate) fn note_items(&mut self, id: &str, rows: &[ItemRecord]) {
        let Some(open) = self.open.iter_mut().find(|open| open.id == id) else { return };
        let calls = calls_in(rows);
        if !calls.is_empty() {
            open.waiting.push(calls);
        }
        let messages = messages_in(rows).map(|(id, mark)| (id.to_owned(), mark));
        open.messages.extend(messages);
    }

    /// Picks a message to delete and returns its conversation, its id and its mark. A message is
    /// picked once.
    pub(crate) fn pick_message_to_delete(
        &mut self,
        rng: &mut fastrand::Rng,
    ) -> Option<(String, String, Mark)> {
        let index = rng.usize(..self.open.len());
        let open = &mut self.open[index];
        if open.messages.is_empty() {
            return None;
        }
        let (item, mark) = open.messages.swap_remove(rng.usize(..open.messages.len()));
        Some((open.id.clone(), item, mark))
    }
}
