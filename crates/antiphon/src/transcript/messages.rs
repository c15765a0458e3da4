//! The user and assistant messages of a transcript, indexed for the comparison with an input.

use std::collections::HashMap;

use super::HeldItem;
use crate::item::{Fingerprint, Role};

/// The messages of user and assistant.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredMessages {
    pub(crate) all: Messages,
    /// The messages that were not deleted; `None` if that is all of them.
    pub(crate) live: Option<Box<Messages>>,
}

/// A sequence of messages with its indexes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    pub(crate) order: Vec<StoredMessage>,
    /// For each fingerprint the indexes of its messages.
    pub(crate) by_fingerprint: HashMap<Fingerprint, Vec<usize>>,
    /// The indexes of the messages that every replay has: those that the user wrote and that were
    /// not deleted.
    pub(crate) users: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredMessage {
    /// Position in the transcript.
    pub(crate) held: usize,
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Whether the model wrote it.
    pub(crate) is_answer: bool,
}

impl StoredMessages {
    /// Adds the item at this position of the transcript, if it is a message of user or assistant.
    pub(super) fn push(&mut self, held: usize, item: &HeldItem) {
        if item.head.speaker().is_none() {
            return;
        }
        if item.is_tombstone() {
            self.live.get_or_insert_with(|| Box::new(self.all.clone()));
        } else if let Some(live) = &mut self.live {
            live.push(held, item);
        }
        self.all.push(held, item);
    }
}

impl Messages {
    fn push(&mut self, held: usize, item: &HeldItem) {
        let (index, fingerprint) = (self.order.len(), item.fingerprint);
        if let Some(fingerprint) = fingerprint {
            self.by_fingerprint.entry(fingerprint).or_default().push(index);
        }
        let is_user = item.head.role == Some(Role::User) && !item.is_placeholder();
        if is_user && !item.is_tombstone() {
            self.users.push(index);
        }
        let is_answer = item.head.role == Some(Role::Assistant);
        self.order.push(StoredMessage { held, fingerprint, is_answer });
    }
}
