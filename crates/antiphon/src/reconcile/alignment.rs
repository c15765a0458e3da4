//! The last rule: replayed messages without ids, known by their place in the held order.
//!
//! The input is cut at its *anchors*: items that are known by id or call, and outputs for calls
//! that wait. Messages before an anchor are matched backwards from it, so the replay may begin
//! anywhere; those behind the last anchor forwards from it. Without any anchor the replay has to
//! begin where the transcript does. What clients drop on replay (reasoning, calls, assistant
//! messages) may be skipped, a user's message may not.
//!
//! A binary search for each message, so the time is as good as linear.

use std::ops::Range;

use super::known::Known;
use super::talk::{Message, Pair, Talk};
use super::{Resent, Rule, Verdict};
use crate::item::{FingerprintKey, Item};
use crate::transcript::Transcript;

pub(super) fn align(
    transcript: &Transcript,
    incoming: &[Item],
    key: FingerprintKey,
    known: &mut [Known],
) {
    let talk = Talk::of(transcript);
    if talk.is_empty() {
        return;
    }
    let mut messages = Vec::new();
    let mut behind = None;
    for (position, item) in incoming.iter().enumerate() {
        if let Some(anchor) = anchor(&talk, known[position]) {
            let before = behind.unwrap_or_default()..anchor.start;
            settle(talk.backwards(before, &messages), known);
            messages.clear();
            behind = behind.max(Some(anchor.end));
        } else if known[position].verdict == Verdict::Fresh {
            messages.extend(Message::of(position, item, key));
        }
    }
    let end = End { transcript, talk: &talk, incoming, known };
    let pairs = match behind {
        Some(behind) => end.behind_anchor(behind, &messages),
        None => end.without_anchor(&messages),
    };
    settle(pairs, known);
}

fn settle(pairs: Vec<Pair>, known: &mut [Known]) {
    for Pair { incoming, held, is_deleted, .. } in pairs {
        let resent = Resent { held, rule: Rule::Replayed, differs: false };
        let resent = Verdict::Resent(resent);
        known[incoming].verdict = if is_deleted { Verdict::Deleted } else { resent };
    }
}

/// Where in the transcript an incoming item certainly belongs. What comes before it in the input is
/// held before the range, what comes after it behind the range.
fn anchor(talk: &Talk, known: Known) -> Option<Range<usize>> {
    let place = known.place?;
    match known.verdict {
        Verdict::Resent(_) | Verdict::Deleted | Verdict::LateOutput { .. } => {
            Some(place..place + 1)
        }
        // What a model said beside a call comes before the output, up to the user's next word.
        _ => {
            let next = talk.user_behind(place).unwrap_or(usize::MAX);
            Some(next..next)
        }
    }
}

/// The messages behind the last anchor.
struct End<'a> {
    transcript: &'a Transcript,
    talk: &'a Talk,
    incoming: &'a [Item],
    known: &'a [Known],
}

impl End<'_> {
    /// Re-sent are all that follow the held order where no user's message is missing and something
    /// fresh comes behind them; else those up to the last assistant's, since no delta holds one.
    fn behind_anchor(&self, behind: usize, messages: &[Message]) -> Vec<Pair> {
        let mut followed = self.talk.forwards(behind..usize::MAX, messages);
        let leaves_something = self.fresh_behind(&followed.pairs).next().is_some();
        if !(followed.covers_all_users && leaves_something) {
            up_to_last_assistant(&mut followed.pairs);
        }
        followed.pairs
    }

    /// A replay without any anchor: from the first message on, every user's message, and something
    /// fresh behind them. A client that left a turn may have forgotten it, or say the same again, or
    /// hand on what others said: then those up to the last assistant's, since no delta holds one.
    fn without_anchor(&self, messages: &[Message]) -> Vec<Pair> {
        let mut followed = self.talk.forwards(0..usize::MAX, messages);
        if !(followed.covers_all_users && self.goes_on_behind(&followed.pairs)) {
            up_to_last_assistant(&mut followed.pairs);
        }
        followed.pairs
    }

    /// Whether what is fresh behind a replay goes on from where the transcript ends. Where a model
    /// has answered, its caller has the word: a call and its output can only belong to the message
    /// before them, which is then no replay.
    fn goes_on_behind(&self, pairs: &[Pair]) -> bool {
        let is_answered = self.is_answered();
        self.fresh_behind(pairs).any(|item| {
            let head = item.head();
            !is_answered || !head.is_model_made() && head.kind.call().is_none()
        })
    }

    fn is_answered(&self) -> bool {
        let latest = self.talk.latest_user().unwrap_or_default();
        let behind = &self.transcript.items()[latest..];
        behind.iter().any(|item| item.head.is_model_made())
    }

    /// The fresh items behind those that were matched.
    fn fresh_behind(&self, pairs: &[Pair]) -> impl Iterator<Item = &Item> {
        let last = pairs.iter().map(|pair| pair.incoming).max();
        let rest = last.map_or(0, |last| last + 1);
        let items = self.incoming.iter().zip(self.known).skip(rest);
        items.filter(|(_, known)| known.verdict.is_fresh()).map(|(item, _)| item)
    }
}

fn up_to_last_assistant(pairs: &mut Vec<Pair>) {
    let last = pairs.iter().rposition(|pair| !pair.is_user);
    pairs.truncate(last.map_or(0, |last| last + 1));
}
