//! The replacement of a long history by a shorter one, between two turns.
//!
//! The items that the application owns are replaced. A server's state does not change: the run
//! leaves it for a new chain, or for a new conversation, that begins with the compacted items.

use antiphon::Item;
use antiphon::tracker::Continuation;

use super::prepared::Prepared;
use super::state::{ClientHistory, Owner};
use super::{Machine, is_empty};

/// The history that a compaction can replace now.
#[derive(Clone, Debug, PartialEq)]
pub enum Compactable {
    /// These items of the application: those up to the last answer.
    Items(Vec<Item>),
    /// The items of a server, which are not known here.
    Server(Continuation),
}

/// The result of a compaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Compacted {
    /// These items replace the first `old` ones of the application.
    Items {
        /// The number of replaced items.
        old: usize,
        /// The items that replace them.
        new: Vec<Item>,
    },
    /// A new chain begins with these items.
    Chain(Vec<Item>),
    /// A new conversation has these items.
    Conversation {
        /// The conversation.
        to: Continuation,
        /// Its items.
        seed: Vec<Item>,
    },
}

impl Machine {
    /// The history that a compaction can replace now. `None` while the model has not read the
    /// outputs of tools, and if there is no history.
    pub fn compactable(&self) -> Option<Compactable> {
        match &self.state.owner {
            Owner::Replay(_) | Owner::Session { .. } => {
                let (read, _) = split_read(self.all_items())?;
                Some(Compactable::Items(read))
            }
            Owner::Server { tracker, .. } => {
                let from = tracker.continuation();
                let is_unread = has_outputs(&self.unsent());
                (!is_empty(from) && !is_unread).then(|| Compactable::Server(from.clone()))
            }
        }
    }

    /// Records a compaction.
    pub fn compacted(&mut self, compacted: Compacted) {
        match compacted {
            Compacted::Items { old, new } => self.replace_items(old, new),
            Compacted::Chain(mut input) => {
                input.extend(self.unsent());
                let to = Continuation::Chain { previous_response_id: None };
                self.leave_for(&to, &[], input);
            }
            Compacted::Conversation { to, seed } => {
                let input = self.unsent();
                self.leave_for(&to, &seed, input);
            }
        }
    }

    fn replace_items(&mut self, old: usize, mut new: Vec<Item>) {
        new.extend(self.all_items().split_off(old));
        let run_from = self.state.items.len();
        self.prepared = Prepared::default();
        if let Owner::Replay(history) | Owner::Session { history, .. } = &mut self.state.owner {
            *history = ClientHistory { stored: new.len(), held: new, run_from, view: None };
        }
    }
}

/// Splits a history into the items up to the last answer, and those that no model has read. `None`
/// if no model has read any, or if the others have outputs of tools, whose calls are before them.
pub(crate) fn split_read(mut items: Vec<Item>) -> Option<(Vec<Item>, Vec<Item>)> {
    let unread = items.iter().rev().take_while(|item| !item.head().is_model_made()).count();
    let unread = items.split_off(items.len() - unread);
    (!items.is_empty() && !has_outputs(&unread)).then_some((items, unread))
}

fn has_outputs(items: &[Item]) -> bool {
    items.iter().any(|item| item.head().kind.call().is_some())
}
