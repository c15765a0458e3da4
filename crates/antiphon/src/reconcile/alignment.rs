//! Replayed messages without ids, known by their place in the held order.
//!
//! The input is cut at its *anchors*: items that are known by id or call, and outputs for calls
//! that wait. Messages before an anchor are matched backwards from it, so the replay may begin
//! anywhere; those behind the last anchor forwards from it. Without any anchor the replay has to
//! begin where the transcript does. What clients drop on replay (reasoning, calls, assistant
//! messages) may be skipped, a user's message may not.

use super::{Resent, Rule, Verdict};
use crate::item::{Fingerprint, FingerprintKey, Item, Role, Side};
use crate::transcript::Transcript;

pub(super) fn align(
    transcript: &Transcript,
    incoming: &[Item],
    key: FingerprintKey,
    verdicts: &mut [Verdict],
) {
    let talk = Talk::of(transcript);
    if talk.0.is_empty() {
        return;
    }
    let mut messages = Vec::new();
    let mut last_anchor = None;
    for (position, item) in incoming.iter().enumerate() {
        if let Some(anchor) = anchor(transcript, item, verdicts[position]) {
            let from = last_anchor.map_or(0, |last: usize| last + 1);
            let matches = talk.backwards(from, anchor, &messages);
            settle(matches, verdicts);
            messages.clear();
            last_anchor = last_anchor.max(Some(anchor));
        } else if let Some(message) = Message::of(position, item, verdicts[position], key) {
            messages.push(message);
        }
    }
    let matches = match last_anchor {
        Some(anchor) => talk.behind(anchor, &messages),
        None => talk.from_the_start(&messages, incoming.len()),
    };
    settle(matches, verdicts);
}

fn settle(matches: Vec<Match>, verdicts: &mut [Verdict]) {
    for Match {
        incoming,
        held,
        deleted,
    } in matches
    {
        verdicts[incoming] = match deleted {
            true => Verdict::Deleted,
            false => Verdict::Resent(Resent {
                held,
                rule: Rule::Replayed,
                differs: false,
            }),
        };
    }
}

/// Where in the transcript an incoming item certainly belongs.
fn anchor(transcript: &Transcript, item: &Item, verdict: Verdict) -> Option<usize> {
    match verdict {
        Verdict::Resent(Resent {
            held,
            rule: Rule::SameId | Rule::SameCall,
            ..
        }) => Some(held),
        Verdict::Deleted => transcript.position(item.head().id.as_ref()?),
        Verdict::Fresh => match item.head().pairing()? {
            (Side::Output, key) => {
                let exchange = transcript.exchange(&key)?;
                exchange.calls.get(exchange.outputs.len()).copied()
            }
            (Side::Call, _) => None,
        },
        _ => None,
    }
}

/// An incoming message without an id.
struct Message {
    incoming: usize,
    says: Option<Fingerprint>,
    is_user: bool,
}

impl Message {
    fn of(position: usize, item: &Item, verdict: Verdict, key: FingerprintKey) -> Option<Self> {
        let role = item.head().speaker().filter(|_| item.head().id.is_none())?;
        (verdict == Verdict::Fresh).then(|| Self {
            incoming: position,
            says: Fingerprint::of(key, item),
            is_user: role == Role::User,
        })
    }
}

struct Match {
    incoming: usize,
    held: usize,
    deleted: bool,
}

/// The held messages of user and assistant, in order.
struct Talk(Vec<Line>);

struct Line {
    held: usize,
    says: Option<Fingerprint>,
    is_user: bool,
    deleted: bool,
}

impl Line {
    /// Whether a replay may leave it out.
    fn may_be_skipped(&self) -> bool {
        self.deleted || !self.is_user
    }

    fn pair(&self, message: &Message) -> Match {
        Match {
            incoming: message.incoming,
            held: self.held,
            deleted: self.deleted,
        }
    }
}

impl Talk {
    fn of(transcript: &Transcript) -> Self {
        let line = |(held, item): (usize, &crate::HeldItem)| {
            let role = item.head.speaker()?;
            Some(Line {
                held,
                says: item.fingerprint,
                is_user: role == Role::User,
                deleted: item.is_tombstone(),
            })
        };
        Self(
            transcript
                .items()
                .iter()
                .enumerate()
                .filter_map(line)
                .collect(),
        )
    }

    /// The lines held in `from..to`.
    fn between(&self, from: usize, to: usize) -> &[Line] {
        let start = self.0.partition_point(|line| line.held < from);
        let end = self.0.partition_point(|line| line.held < to);
        self.0.get(start..end).unwrap_or_default()
    }

    /// The longest run of `messages` that ends at the anchor `to`.
    fn backwards(&self, from: usize, to: usize, messages: &[Message]) -> Vec<Match> {
        follow(self.between(from, to).iter().rev(), messages.iter().rev()).matches
    }

    /// Messages behind the last anchor. Assistant messages in the held order are re-sent. Users'
    /// are where they are all there and something fresh follows them.
    fn behind(&self, anchor: usize, messages: &[Message]) -> Vec<Match> {
        let followed = follow(self.between(anchor + 1, usize::MAX).iter(), messages.iter());
        let leaves_something = messages.len() > followed.matches.len();
        if followed.covers_all_users && leaves_something {
            return followed.matches;
        }
        let talk = messages.iter().zip(followed.matches);
        talk.take_while(|(message, _)| !message.is_user)
            .map(|(_, matched)| matched)
            .collect()
    }

    /// A replay without any anchor: from the first message on, every user's message, and something
    /// fresh behind them.
    fn from_the_start(&self, messages: &[Message], incoming: usize) -> Vec<Match> {
        let followed = follow(self.0.iter(), messages.iter());
        let begins = followed.matches.first().is_some_and(|first| {
            self.0
                .iter()
                .take_while(|line| line.held < first.held)
                .all(Line::may_be_skipped)
        });
        let last = followed.matches.last().map_or(0, |last| last.incoming + 1);
        let covers = followed.covers_all_users && self.0.iter().any(|line| line.is_user);
        match begins && covers && last < incoming {
            true => followed.matches,
            false => Vec::new(),
        }
    }
}

struct Followed {
    matches: Vec<Match>,
    covers_all_users: bool,
}

/// Follows the held lines with the messages until one of them does not fit.
fn follow<'a>(
    mut lines: impl Iterator<Item = &'a Line> + Clone,
    messages: impl Iterator<Item = &'a Message>,
) -> Followed {
    let mut matches = Vec::new();
    for message in messages {
        let mut ahead = lines.clone();
        let fits = |line: &&Line| line.says == message.says;
        let mut skipped = ahead
            .by_ref()
            .take_while(|line| fits(line) || line.may_be_skipped());
        let Some(line) = skipped.find(fits) else {
            break;
        };
        matches.push(line.pair(message));
        lines = ahead;
    }
    let covers_all_users = lines.all(|line| line.may_be_skipped());
    Followed {
        matches,
        covers_all_users,
    }
}
