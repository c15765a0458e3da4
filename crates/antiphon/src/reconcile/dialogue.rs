//! The stored user and assistant messages, and how a replay follows them.

use std::collections::HashMap;
use std::ops::Range;

use crate::item::{Fingerprint, FingerprintKey, Item, Role};
use crate::transcript::{HeldItem, Transcript};

/// The stored messages of user and assistant, in order.
///
/// After a deletion in the conversation, a client may or may not have deleted the message as well.
/// So a dialogue with deletions is matched twice, with and without the deleted messages, and the
/// better match counts.
pub(super) struct Dialogue {
    all: Messages,
    /// `None` if nothing was deleted.
    live: Option<Messages>,
}

/// A sequence of stored messages with its indexes.
#[derive(Default)]
struct Messages {
    order: Vec<StoredMessage>,
    /// For each fingerprint the indexes of its messages.
    by_fingerprint: HashMap<Fingerprint, Vec<usize>>,
    /// The indexes of the messages that every replay has: those that the user wrote and that were
    /// not deleted.
    users: Vec<usize>,
}

#[derive(Clone, Copy)]
struct StoredMessage {
    /// Position in the transcript.
    held: usize,
    is_user: bool,
    is_deleted: bool,
}

/// An incoming message without an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct IncomingMessage {
    incoming: usize,
    fingerprint: Fingerprint,
    is_user: bool,
}

/// An incoming message and the stored one that it repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageMatch {
    /// Position in the input.
    pub(super) incoming: usize,
    /// Position in the transcript.
    pub(super) held: usize,
    pub(super) is_deleted: bool,
    pub(super) is_user: bool,
}

/// The messages of the input that repeat a run of stored messages.
pub(super) struct MatchedRun {
    pub(super) matches: Vec<MessageMatch>,
    /// Whether every stored user message in the range was matched.
    pub(super) covers_all_users: bool,
}

impl IncomingMessage {
    /// Returns `None` if the item has an id or is not a message of user or assistant.
    pub(super) fn from_item(incoming: usize, item: &Item, key: FingerprintKey) -> Option<Self> {
        let role = item.head().speaker().filter(|_| item.head().id.is_none())?;
        let is_user = role == Role::User;
        Some(Self { incoming, fingerprint: Fingerprint::from_item(key, item)?, is_user })
    }
}

impl Dialogue {
    pub(super) fn new(transcript: &Transcript) -> Self {
        let held = || transcript.items().iter().enumerate();
        let all = Messages::from_held(held());
        let has_deletions = all.order.iter().any(|message| message.is_deleted);
        let live = has_deletions
            .then(|| Messages::from_held(held().filter(|(_, item)| !item.is_tombstone())));
        Self { all, live }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.order.is_empty()
    }

    /// The position of the latest user message in the transcript.
    pub(super) fn latest_user(&self) -> Option<usize> {
        let latest = self.all.users.last()?;
        Some(self.all.order[*latest].held)
    }

    /// The position of the first user message after `place` in the transcript.
    pub(super) fn next_user_after(&self, place: usize) -> Option<usize> {
        let order = &self.all.order;
        let next = self.all.users.partition_point(|user| order[*user].held <= place);
        self.all.users.get(next).map(|user| order[*user].held)
    }

    /// Matches `messages`, from the last one backwards, with the stored messages at the positions
    /// `held`, from their end backwards.
    pub(super) fn match_backwards(
        &self,
        held: Range<usize>,
        messages: &[IncomingMessage],
    ) -> Vec<MessageMatch> {
        self.better(|stored| stored.match_backwards(held.clone(), messages)).matches
    }

    /// Matches `messages`, from the first one on, with the stored messages at the positions `held`,
    /// from their start.
    pub(super) fn match_forwards(
        &self,
        held: Range<usize>,
        messages: &[IncomingMessage],
    ) -> MatchedRun {
        self.better(|stored| stored.match_forwards(held.clone(), messages))
    }

    /// The better match of the two sequences, with and without deleted messages.
    fn better(&self, find: impl Fn(&Messages) -> MatchedRun) -> MatchedRun {
        let all = find(&self.all);
        let Some(live) = self.live.as_ref().map(find) else {
            return all;
        };
        let quality = |run: &MatchedRun| (run.covers_all_users, run.matches.len());
        if quality(&all) > quality(&live) { all } else { live }
    }
}

/// A message matches the next stored message with its fingerprint, but not beyond the next stored
/// user message. If there is none, an assistant message is skipped, because clients join and edit
/// those, and a user message ends the run.
impl Messages {
    fn from_held<'a>(held: impl Iterator<Item = (usize, &'a HeldItem)>) -> Self {
        let mut messages = Self::default();
        for (position, item) in held {
            let Some(role) = item.head.speaker() else { continue };
            let is_user = role == Role::User && !item.is_placeholder();
            messages.push(position, item, is_user);
        }
        messages
    }

    fn push(&mut self, held: usize, item: &HeldItem, is_user: bool) {
        let index = self.order.len();
        let is_deleted = item.is_tombstone();
        if let Some(fingerprint) = item.fingerprint {
            self.by_fingerprint.entry(fingerprint).or_default().push(index);
        }
        if is_user && !is_deleted {
            self.users.push(index);
        }
        self.order.push(StoredMessage { held, is_user, is_deleted });
    }

    fn match_forwards(&self, held: Range<usize>, messages: &[IncomingMessage]) -> MatchedRun {
        let mut left = self.indexes_in(held);
        let mut matches = Vec::new();
        for message in messages {
            let next_user = self.users_in(&left).first();
            let reach = left.start..next_user.map_or(left.end, |user| user + 1);
            if let Some(index) = self.equal_in(message, &reach).first() {
                matches.push(self.match_at(message, *index));
                left.start = index + 1;
            } else if message.is_user {
                break;
            }
        }
        MatchedRun { matches, covers_all_users: self.users_in(&left).is_empty() }
    }

    fn match_backwards(&self, held: Range<usize>, messages: &[IncomingMessage]) -> MatchedRun {
        let mut left = self.indexes_in(held);
        let mut matches = Vec::new();
        for message in messages.iter().rev() {
            let next_user = self.users_in(&left).last();
            let reach = next_user.map_or(left.start, |user| *user)..left.end;
            if let Some(index) = self.equal_in(message, &reach).last() {
                matches.push(self.match_at(message, *index));
                left.end = *index;
            } else if message.is_user {
                break;
            }
        }
        MatchedRun { matches, covers_all_users: self.users_in(&left).is_empty() }
    }

    fn match_at(&self, message: &IncomingMessage, index: usize) -> MessageMatch {
        let StoredMessage { held, is_user, is_deleted } = self.order[index];
        MessageMatch { incoming: message.incoming, held, is_deleted, is_user }
    }

    /// The indexes of the messages at these positions of the transcript.
    fn indexes_in(&self, held: Range<usize>) -> Range<usize> {
        let index = |place: usize| self.order.partition_point(|message| message.held < place);
        index(held.start)..index(held.end).max(index(held.start))
    }

    fn users_in(&self, range: &Range<usize>) -> &[usize] {
        within(&self.users, range)
    }

    /// The indexes of the messages in `range` that equal the incoming one.
    fn equal_in(&self, message: &IncomingMessage, range: &Range<usize>) -> &[usize] {
        let equal = self.by_fingerprint.get(&message.fingerprint);
        equal.map_or(&[], |indexes| within(indexes, range))
    }
}

/// The part of the ascending `indexes` that lies in `range`.
fn within<'a>(indexes: &'a [usize], range: &Range<usize>) -> &'a [usize] {
    let start = indexes.partition_point(|index| *index < range.start);
    let end = indexes.partition_point(|index| *index < range.end);
    &indexes[start..end]
}
