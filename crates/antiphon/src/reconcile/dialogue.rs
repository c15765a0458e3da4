//! The stored user and assistant messages, and how a replay follows them.

use std::iter;
use std::ops::Range;

use crate::item::{Fingerprint, FingerprintKey, Item, Role};
use crate::transcript::{Messages, StoredMessages, Transcript};

/// The stored messages of user and assistant, in order.
///
/// After a deletion in the conversation, a client may or may not have deleted the message as well.
/// So a dialogue with deletions is matched twice, with and without the deleted messages, and the
/// better match counts.
#[derive(Clone, Copy)]
pub(super) struct Dialogue<'a> {
    all: &'a Messages,
    /// `None` if nothing was deleted.
    live: Option<&'a Messages>,
}

/// An incoming message without an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct IncomingMessage {
    pub(super) incoming: usize,
    pub(super) fingerprint: Fingerprint,
    pub(super) is_user: bool,
}

/// An incoming message and the stored one that it repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageMatch {
    /// Position in the input.
    pub(super) incoming: usize,
    /// Position in the transcript.
    pub(super) held: usize,
    pub(super) fingerprint: Fingerprint,
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

impl<'a> Dialogue<'a> {
    pub(super) fn new(transcript: &'a Transcript) -> Self {
        let StoredMessages { all, live } = transcript.messages();
        Self { all, live: live.as_deref() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.order.is_empty()
    }

    /// The position of the latest user message in the transcript.
    pub(super) fn latest_user(&self) -> Option<usize> {
        let latest = self.all.users.last()?;
        Some(self.all.order[*latest].held)
    }

    /// Whether an assistant message follows the latest user message.
    pub(super) fn has_answer(&self) -> bool {
        let latest = self.all.users.last().map_or(0, |latest| latest + 1);
        self.all.order[latest..].iter().any(|message| message.is_answer)
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

    /// The position in `held` of the stored message that equals the last of `messages` and whose
    /// predecessors equal most of theirs; the latest such position.
    pub(super) fn best_end(
        &self,
        held: Range<usize>,
        messages: &[IncomingMessage],
    ) -> Option<usize> {
        /// How many predecessors are compared.
        const CONTEXT: usize = 8;
        let (last, before) = messages.split_last()?;
        let context = &before[before.len().saturating_sub(CONTEXT)..];
        let stored = self.all;
        let ends = stored.equal_in(last, &stored.indexes_in(held.clone())).iter();
        let ends = ends.map(|end| stored.order[*end].held);
        let fit = |end: &usize| stored.match_backwards(held.start..*end, context).matches.len();
        ends.max_by_key(fit)
    }

    /// The runs of the latest stored user messages with which the user messages of the input begin,
    /// the longest first.
    pub(super) fn latest_users_at_start(
        &self,
        messages: &[IncomingMessage],
    ) -> impl Iterator<Item = Vec<MessageMatch>> {
        let users: Vec<&IncomingMessage> = messages.iter().filter(|one| one.is_user).collect();
        let prints: Vec<Fingerprint> = users.iter().map(|user| user.fingerprint).collect();
        let latest = |length| &self.all.users[self.all.users.len().saturating_sub(length)..];
        let stored = latest(users.len()).iter().map(|user| self.all.order[*user].fingerprint);
        let lengths = overlap_lengths(&prints, stored);
        lengths.into_iter().map(move |length| {
            let latest = latest(length);
            let pairs = users.iter().zip(latest);
            pairs.map(|(user, index)| self.all.match_at(user, *index)).collect()
        })
    }

    /// The positions of the stored messages with this fingerprint.
    pub(super) fn positions_of(&self, fingerprint: Fingerprint) -> impl Iterator<Item = usize> {
        let indexes = self.all.by_fingerprint.get(&fingerprint).into_iter().flatten();
        indexes.map(|index| self.all.order[*index].held)
    }

    /// The position of the last user message before `place` in the transcript.
    pub(super) fn last_user_before(&self, place: usize) -> Option<usize> {
        let Messages { order, users, .. } = self.all;
        let next = users.partition_point(|user| order[*user].held < place);
        next.checked_sub(1).map(|last| order[users[last]].held)
    }

    /// The positions of the assistant messages at the positions `held`.
    pub(super) fn assistants_in(
        &self,
        held: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = usize> {
        let stored = self.all.order[self.all.indexes_in(held)].iter();
        stored.filter(|message| message.is_answer).map(|message| message.held)
    }

    /// The better match of the two sequences, with and without deleted messages.
    fn better(&self, find: impl Fn(&Messages) -> MatchedRun) -> MatchedRun {
        let all = find(self.all);
        let Some(live) = self.live.map(find) else {
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
        let IncomingMessage { incoming, fingerprint, .. } = *message;
        MessageMatch { incoming, held: self.order[index].held, fingerprint }
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

/// The lengths, greatest first, at which the start of `incoming` equals the end of `stored`. Takes
/// linear time (the algorithm of Knuth, Morris and Pratt).
fn overlap_lengths(
    incoming: &[Fingerprint],
    stored: impl Iterator<Item = Option<Fingerprint>>,
) -> Vec<usize> {
    let shorter = shorter_overlaps(incoming);
    let mut length = 0;
    for fingerprint in stored {
        while length > 0 && incoming.get(length).copied() != fingerprint {
            length = shorter[length - 1];
        }
        if fingerprint.is_some() && incoming.get(length).copied() == fingerprint {
            length += 1;
        }
    }
    let next = |length: &usize| shorter.get(length.checked_sub(1)?).copied();
    iter::successors(Some(length), next).take_while(|length| *length > 0).collect()
}

/// For each length of a start of `list`, less one, the length of the longest shorter start that
/// equals the end of that start.
fn shorter_overlaps(list: &[Fingerprint]) -> Vec<usize> {
    let mut lengths = vec![0; list.len()];
    let mut length = 0;
    for end in 1..list.len() {
        while length > 0 && list[end] != list[length] {
            length = lengths[length - 1];
        }
        if list[end] == list[length] {
            length += 1;
        }
        lengths[end] = length;
    }
    lengths
}
