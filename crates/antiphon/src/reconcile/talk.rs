//! What user and assistant said, as it is held, and how a replay follows it.

use std::collections::HashMap;
use std::ops::Range;

use crate::item::{Fingerprint, FingerprintKey, Item, Role};
use crate::transcript::{HeldItem, Transcript};

/// The held messages of user and assistant, in order.
///
/// A client may or may not have deleted what the owner deleted, so there are two readings of a
/// talk with deletions, and the one that explains more counts.
pub(super) struct Talk {
    all: Lines,
    live: Option<Lines>,
}

/// One reading.
#[derive(Default)]
struct Lines {
    order: Vec<Line>,
    /// The indexes of the lines that say a thing.
    by_says: HashMap<Fingerprint, Vec<usize>>,
    /// The indexes of the lines that no replay leaves out: the user's own.
    users: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Line {
    held: usize,
    is_user: bool,
    is_deleted: bool,
}

/// An incoming message without an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    incoming: usize,
    says: Fingerprint,
    is_user: bool,
}

/// A message and the line that it repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) incoming: usize,
    pub(super) held: usize,
    pub(super) is_deleted: bool,
    pub(super) is_user: bool,
}

/// How far messages follow the lines.
pub(super) struct Followed {
    pub(super) pairs: Vec<Pair>,
    /// Whether no user's message is held that they left out.
    pub(super) covers_all_users: bool,
}

impl Message {
    /// `None` for what is no message of the talk, and for messages with an id.
    pub(super) fn of(incoming: usize, item: &Item, key: FingerprintKey) -> Option<Self> {
        let role = item.head().speaker().filter(|_| item.head().id.is_none())?;
        let is_user = role == Role::User;
        Some(Self { incoming, says: Fingerprint::of(key, item)?, is_user })
    }
}

impl Talk {
    pub(super) fn of(transcript: &Transcript) -> Self {
        let held = || transcript.items().iter().enumerate();
        let all = Lines::of(held());
        let has_deletions = all.order.iter().any(|line| line.is_deleted);
        let live =
            has_deletions.then(|| Lines::of(held().filter(|(_, item)| !item.is_tombstone())));
        Self { all, live }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.order.is_empty()
    }

    /// Where the latest message of the user is held.
    pub(super) fn latest_user(&self) -> Option<usize> {
        let latest = self.all.users.last()?;
        Some(self.all.order[*latest].held)
    }

    /// Where the first message of the user behind `place` is held.
    pub(super) fn user_behind(&self, place: usize) -> Option<usize> {
        let order = &self.all.order;
        let next = self.all.users.partition_point(|user| order[*user].held <= place);
        self.all.users.get(next).map(|user| order[*user].held)
    }

    /// The run of `messages` up to their end that follows the lines held in a range up to theirs.
    pub(super) fn backwards(&self, held: Range<usize>, messages: &[Message]) -> Vec<Pair> {
        self.better(|lines| lines.backwards(held.clone(), messages)).pairs
    }

    /// The run of `messages` from the first that follows the lines held in a range from theirs.
    pub(super) fn forwards(&self, held: Range<usize>, messages: &[Message]) -> Followed {
        self.better(|lines| lines.forwards(held.clone(), messages))
    }

    fn better(&self, follow: impl Fn(&Lines) -> Followed) -> Followed {
        let all = follow(&self.all);
        let Some(live) = self.live.as_ref().map(follow) else {
            return all;
        };
        let reach = |followed: &Followed| (followed.covers_all_users, followed.pairs.len());
        if reach(&all) > reach(&live) { all } else { live }
    }
}

/// A message repeats the next line that says what it says, up to the next of the user's. Where there
/// is none, an assistant's message is passed over, since clients join and edit them, and a user's
/// ends the run.
impl Lines {
    fn of<'a>(held: impl Iterator<Item = (usize, &'a HeldItem)>) -> Self {
        let mut lines = Self::default();
        for (position, item) in held {
            let Some(role) = item.head.speaker() else { continue };
            let is_user = role == Role::User && !item.is_made_up();
            lines.push(position, item, is_user);
        }
        lines
    }

    fn push(&mut self, held: usize, item: &HeldItem, is_user: bool) {
        let index = self.order.len();
        let is_deleted = item.is_tombstone();
        if let Some(says) = item.fingerprint {
            self.by_says.entry(says).or_default().push(index);
        }
        if is_user && !is_deleted {
            self.users.push(index);
        }
        self.order.push(Line { held, is_user, is_deleted });
    }

    fn forwards(&self, held: Range<usize>, messages: &[Message]) -> Followed {
        let mut left = self.between(held);
        let mut pairs = Vec::new();
        for message in messages {
            let next_user = self.users_in(&left).first();
            let reach = left.start..next_user.map_or(left.end, |user| user + 1);
            if let Some(line) = self.saying(message, &reach).first() {
                pairs.push(self.pair(message, *line));
                left.start = line + 1;
            } else if message.is_user {
                break;
            }
        }
        Followed { pairs, covers_all_users: self.users_in(&left).is_empty() }
    }

    fn backwards(&self, held: Range<usize>, messages: &[Message]) -> Followed {
        let mut left = self.between(held);
        let mut pairs = Vec::new();
        for message in messages.iter().rev() {
            let next_user = self.users_in(&left).last();
            let reach = next_user.map_or(left.start, |user| *user)..left.end;
            if let Some(line) = self.saying(message, &reach).last() {
                pairs.push(self.pair(message, *line));
                left.end = *line;
            } else if message.is_user {
                break;
            }
        }
        Followed { pairs, covers_all_users: self.users_in(&left).is_empty() }
    }

    fn pair(&self, message: &Message, line: usize) -> Pair {
        let Line { held, is_user, is_deleted } = self.order[line];
        Pair { incoming: message.incoming, held, is_deleted, is_user }
    }

    /// The indexes of the lines that are held in a range.
    fn between(&self, held: Range<usize>) -> Range<usize> {
        let index = |place: usize| self.order.partition_point(|line| line.held < place);
        index(held.start)..index(held.end).max(index(held.start))
    }

    fn users_in(&self, range: &Range<usize>) -> &[usize] {
        within(&self.users, range)
    }

    fn saying(&self, message: &Message, range: &Range<usize>) -> &[usize] {
        self.by_says.get(&message.says).map_or(&[], |lines| within(lines, range))
    }
}

/// The part of the ascending `indexes` that lies in `range`.
fn within<'a>(indexes: &'a [usize], range: &Range<usize>) -> &'a [usize] {
    let start = indexes.partition_point(|index| *index < range.start);
    let end = indexes.partition_point(|index| *index < range.end);
    &indexes[start..end]
}
