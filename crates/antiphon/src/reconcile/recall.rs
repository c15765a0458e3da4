//! The second look at a replay: messages before its end that did not match in order.
//!
//! Clients edit and reorder what they resend: a first message with a clock in it, a message edited
//! some turns ago, a summary that a compactor puts in front. Such a message was new once and was
//! stored then, at the end of the transcript. When it comes again, the transcript holds it, but at
//! another place.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::assessment::Assessment;
use super::dialogue::{Dialogue, IncomingMessage};
use super::{Rule, Verdict};
use crate::item::Fingerprint;
use crate::transcript::Transcript;

/// Matches the messages before `replay_end`, a position of the input, with stored messages that
/// nothing has matched yet: equal ones anywhere, and edited assistant messages between the
/// neighbors of the original. Returns the positions of the messages that remain fresh.
pub(super) fn recall(
    transcript: &Transcript,
    dialogue: Dialogue<'_>,
    messages: &[IncomingMessage],
    replay_end: usize,
    assessments: &mut [Assessment],
) -> Vec<usize> {
    let end = messages.partition_point(|message| message.incoming < replay_end);
    let answers = messages[end..].iter().take_while(|message| !message.is_user).count();
    let is_fresh = |message: &&IncomingMessage, assessments: &[Assessment]| {
        assessments[message.incoming].verdict == Verdict::Fresh
    };
    if messages[..end + answers].iter().any(|message| is_fresh(&message, assessments)) {
        let mut recall = Recall::new(transcript, dialogue, assessments);
        recall.match_equal(&messages[..end]);
        recall.match_edited(&messages[..end + answers]);
    }
    let replayed = if end == 0 { unknown_replay(messages) } else { &messages[..end] };
    let fresh = replayed.iter().filter(|message| is_fresh(message, assessments));
    fresh.map(|message| message.incoming).collect()
}

/// The messages up to the last assistant message that a user message follows. A client that sends
/// one resends its history.
fn unknown_replay(messages: &[IncomingMessage]) -> &[IncomingMessage] {
    let last_user = messages.iter().rposition(|message| message.is_user).unwrap_or_default();
    let last_assistant = messages[..last_user].iter().rposition(|message| !message.is_user);
    &messages[..last_assistant.map_or(0, |last| last + 1)]
}

struct Recall<'a> {
    transcript: &'a Transcript,
    dialogue: Dialogue<'a>,
    assessments: &'a mut [Assessment],
    /// The positions of the stored items that the input has repeated so far.
    matched: HashSet<usize>,
}

impl<'a> Recall<'a> {
    fn new(
        transcript: &'a Transcript,
        dialogue: Dialogue<'a>,
        assessments: &'a mut [Assessment],
    ) -> Self {
        let matched = assessments.iter().filter_map(held_at).collect();
        Self { transcript, dialogue, assessments, matched }
    }

    /// Matches equal messages, the latest first, each with the latest stored one before the item
    /// that follows it, or else with the latest one.
    fn match_equal(&mut self, messages: &[IncomingMessage]) {
        let mut unused: HashMap<Fingerprint, BTreeSet<usize>> = HashMap::new();
        let mut bound = Bound::new(self.assessments.len());
        for message in messages.iter().rev() {
            let next = bound.before(message.incoming, self.assessments);
            if self.assessments[message.incoming].verdict != Verdict::Fresh {
                continue;
            }
            let stored = unused.entry(message.fingerprint).or_insert_with(|| {
                let equal = self.dialogue.positions_of(message.fingerprint);
                equal.filter(|held| !self.matched.contains(held)).collect()
            });
            let found = stored.range(..next).next_back().or_else(|| stored.last()).copied();
            if let Some(held) = found {
                stored.remove(&held);
                self.record(message, held, false);
            }
        }
    }

    /// Matches assistant messages, the latest first, each with the latest one stored between the
    /// same neighbors. The stored message wins, as it does under an id.
    fn match_edited(&mut self, messages: &[IncomingMessage]) {
        let starts = self.starts(messages);
        let mut bound = Bound::new(self.assessments.len());
        for (message, start) in messages.iter().zip(starts).rev() {
            let next = bound.before(message.incoming, self.assessments);
            let is_fresh = self.assessments[message.incoming].verdict == Verdict::Fresh;
            if message.is_user || !is_fresh {
                continue;
            }
            let start = start.or_else(|| self.dialogue.last_user_before(next));
            let stored = self.dialogue.assistants_in(start.map_or(0, |place| place + 1)..next);
            let found = stored.rev().find(|held| !self.matched.contains(held));
            if let Some(held) = found {
                self.record(message, held, true);
            }
        }
    }

    /// For each message the place of the last matched item before it.
    fn starts(&self, messages: &[IncomingMessage]) -> Vec<Option<usize>> {
        let mut read = 0;
        let mut last = None;
        let start = |message: &IncomingMessage| {
            let before = self.assessments[read..message.incoming].iter();
            read = message.incoming;
            last = before.filter_map(held_at).next_back().or(last);
            last
        };
        messages.iter().map(start).collect()
    }

    fn record(&mut self, message: &IncomingMessage, held: usize, differs: bool) {
        self.matched.insert(held);
        let assessment = Assessment::held(self.transcript, held, Rule::Replayed, differs);
        self.assessments[message.incoming] = assessment;
    }
}

/// The position of the stored item that an incoming item repeats.
fn held_at(assessment: &Assessment) -> Option<usize> {
    let is_held = matches!(assessment.verdict, Verdict::Resent(_) | Verdict::Deleted);
    assessment.place.filter(|_| is_held)
}

/// The place of the next matched item, while the input is read backwards.
struct Bound {
    /// The position in the input up to which items were read.
    read: usize,
    next: usize,
}

impl Bound {
    fn new(end: usize) -> Self {
        Self { read: end, next: usize::MAX }
    }

    /// The place in the transcript of the first matched item after `position` in the input.
    fn before(&mut self, position: usize, assessments: &[Assessment]) -> usize {
        let mut after = assessments[position + 1..self.read.max(position + 1)].iter();
        self.next = after.find_map(held_at).unwrap_or(self.next);
        self.read = position + 1;
        self.next
    }
}
