//! Rule 4: messages without ids, matched by their position in the stored sequence.
//!
//! *Anchors* divide the input: items known by id or call, and outputs for stored calls that are
//! still unanswered. Messages before an anchor are matched backwards from it, so a replay may begin
//! anywhere. The input after its last anchor is a replay if something shows it ([`Tail`]).
//! Matching may skip stored items that clients drop on replay (reasoning, calls, assistant
//! messages), but no user message.
//!
//! What remains before the end of a replay is [recalled](super::recall).

use std::ops::Range;

use super::assessment::Assessment;
use super::dialogue::{Dialogue, IncomingMessage, MessageMatch};
use super::recall::recall;
use super::{Doubts, ReplayStyle, Rule, Verdict};
use crate::item::{FingerprintKey, Item};
use crate::transcript::Transcript;

pub(super) fn align(
    transcript: &Transcript,
    incoming: &[Item],
    key: FingerprintKey,
    style: ReplayStyle,
    assessments: &mut [Assessment],
) -> Doubts {
    let dialogue = Dialogue::new(transcript);
    if dialogue.is_empty() {
        return Doubts::default();
    }
    let all = unmatched_messages(incoming, key, assessments);
    let mut messages = all.as_slice();
    let mut anchor_end = None;
    let mut replay_end = 0;
    for position in 0..incoming.len() {
        let Some(anchor) = Anchor::new(dialogue, assessments[position]) else { continue };
        let (before, rest) = split_at_position(messages, position);
        let held = anchor_end.unwrap_or_default()..anchor.held.start;
        let matches = dialogue.match_backwards(held, before);
        replay_end = replay_end.max(end_of(&matches));
        mark(transcript, matches, assessments);
        messages = rest;
        anchor_end = anchor_end.max(Some(anchor.held.end));
        if anchor.is_stored {
            replay_end = position;
        }
    }
    let tail = Tail { transcript, dialogue, incoming, assessments, messages, style };
    let replay = tail.find_replay(anchor_end);
    replay_end = replay_end.max(end_of(&replay.matches));
    mark(transcript, replay.matches, assessments);
    let unrecognized = recall(transcript, dialogue, &all, replay_end, assessments);
    Doubts { repeated: replay.repeated, unrecognized }
}

fn unmatched_messages(
    incoming: &[Item],
    key: FingerprintKey,
    assessments: &[Assessment],
) -> Vec<IncomingMessage> {
    let items = incoming.iter().zip(assessments).enumerate();
    let fresh = items.filter(|(_, (_, assessment))| assessment.verdict == Verdict::Fresh);
    fresh.filter_map(|(at, (item, _))| IncomingMessage::from_item(at, item, key)).collect()
}

fn split_at_position(
    messages: &[IncomingMessage],
    position: usize,
) -> (&[IncomingMessage], &[IncomingMessage]) {
    messages.split_at(messages.partition_point(|message| message.incoming < position))
}

/// The position in the input at which the repeated history ends.
fn end_of(matches: &[MessageMatch]) -> usize {
    matches.iter().map(|matched| matched.incoming + 1).max().unwrap_or_default()
}

fn mark(transcript: &Transcript, matches: Vec<MessageMatch>, assessments: &mut [Assessment]) {
    for MessageMatch { incoming, held, .. } in matches {
        assessments[incoming] = Assessment::held(transcript, held, Rule::Replayed, false);
    }
}

/// An incoming item whose position in the transcript is certain.
struct Anchor {
    /// Earlier items of the input belong before this range, later ones after it.
    held: Range<usize>,
    /// Whether the item itself is stored.
    is_stored: bool,
}

impl Anchor {
    fn new(dialogue: Dialogue<'_>, assessment: Assessment) -> Option<Self> {
        let place = assessment.place?;
        Some(match assessment.verdict {
            Verdict::Resent(_) | Verdict::Deleted => {
                Self { held: place..place + 1, is_stored: true }
            }
            Verdict::LateOutput { .. } => Self { held: place..place + 1, is_stored: false },
            // An output for the call at `place`. Text that the model wrote next to the call
            // precedes the output and the next user message.
            _ => {
                let next = dialogue.next_user_after(place).unwrap_or(usize::MAX);
                Self { held: next..next, is_stored: false }
            }
        })
    }
}

/// The input after its last anchor. It may be a replay, a window of one, or a delta.
///
/// Equal text alone does not make it a replay, because users repeat themselves. These do:
///
/// - An assistant message or another item of the model, because a delta never contains one.
/// - Two or more different user messages that are the latest stored ones, followed by something
///   fresh.
/// - A latest user message without an assistant message after it: its turn was cut short.
/// - A client that is known to resend user messages only ([`ReplayStyle::UsersOnly`]).
///
/// If the end of the stored messages and the start of the input are equal without such a sign, the
/// messages are new, and [`Doubts::repeated`] counts them.
struct Tail<'a> {
    transcript: &'a Transcript,
    dialogue: Dialogue<'a>,
    incoming: &'a [Item],
    assessments: &'a [Assessment],
    messages: &'a [IncomingMessage],
    style: ReplayStyle,
}

/// The messages that repeat stored ones.
#[derive(Default)]
struct Replay {
    matches: Vec<MessageMatch>,
    /// See [`Doubts::repeated`].
    repeated: Vec<usize>,
}

impl From<Vec<MessageMatch>> for Replay {
    fn from(matches: Vec<MessageMatch>) -> Self {
        Self { matches, repeated: Vec::new() }
    }
}

impl Tail<'_> {
    fn find_replay(&self, anchor_end: Option<usize>) -> Replay {
        let start = anchor_end.unwrap_or_default();
        let run = self.dialogue.match_forwards(start..usize::MAX, self.messages);
        let is_complete = run.covers_all_users && self.can_continue_after(&run.matches, anchor_end);
        if is_complete && (anchor_end.is_some() || self.is_replay(&run.matches)) {
            return Replay::from(run.matches);
        }
        let matches = self.match_to_last_assistant(start);
        if !matches.is_empty() {
            return Replay::from(matches);
        }
        match anchor_end {
            Some(_) => Replay::default(),
            None => self.match_latest_users(),
        }
    }

    /// The matches up to the last assistant message that is stored, and those after it if they are
    /// followed by something fresh.
    fn match_to_last_assistant(&self, start: usize) -> Vec<MessageMatch> {
        let Some((last, held)) = self.find_last_assistant(start) else { return Vec::new() };
        let (before, after) = self.messages.split_at(last + 1);
        let mut matches = self.dialogue.match_backwards(start..held + 1, before);
        let run = self.dialogue.match_forwards(held + 1..usize::MAX, after);
        if run.covers_all_users && self.fresh_after(&run.matches).next().is_some() {
            matches.extend(run.matches);
        }
        matches
    }

    /// The last incoming assistant message that equals a stored one after `start`: its index in
    /// `messages`, and the position of the stored one that fits its predecessors best.
    fn find_last_assistant(&self, start: usize) -> Option<(usize, usize)> {
        let messages = self.messages.iter().enumerate().rev();
        let mut assistants = messages.filter(|(_, message)| !message.is_user);
        assistants.find_map(|(index, _)| {
            let before = &self.messages[..=index];
            Some((index, self.dialogue.best_end(start..usize::MAX, before)?))
        })
    }

    /// The longest run of the latest stored user messages with which the input begins.
    fn match_latest_users(&self) -> Replay {
        let mut runs = self.dialogue.latest_users_at_start(self.messages);
        let Some(matches) = runs.find(|matches| self.can_continue_after(matches, None)) else {
            return Replay::default();
        };
        match self.is_replay(&matches) {
            true => Replay::from(matches),
            false => Replay {
                repeated: matches.iter().map(|matched| matched.incoming).collect(),
                matches: Vec::new(),
            },
        }
    }

    /// Whether anything but equal text shows that the messages come from a replayed history.
    fn is_replay(&self, matches: &[MessageMatch]) -> bool {
        let Some(first) = matches.first() else { return true };
        let mut after = self.incoming[first.incoming..].iter();
        let mut others = matches.iter().map(|matched| matched.fingerprint);
        self.style == ReplayStyle::UsersOnly
            || !self.dialogue.has_answer()
            || after.any(|item| item.head().is_model_made())
            || others.any(|fingerprint| fingerprint != first.fingerprint)
    }

    /// Whether something fresh after a replay can continue the transcript. Once the model has
    /// answered, a fresh call and its output can only belong to the message before them, so that
    /// message is not a replay, unless an anchor shows it.
    fn can_continue_after(&self, matches: &[MessageMatch], anchor_end: Option<usize>) -> bool {
        let any_item = anchor_end.is_some() || !self.is_answered();
        self.fresh_after(matches).any(|item| {
            let head = item.head();
            any_item || !head.is_model_made() && head.kind.call().is_none()
        })
    }

    fn is_answered(&self) -> bool {
        let latest = self.dialogue.latest_user().unwrap_or_default();
        let rest = &self.transcript.items()[latest..];
        rest.iter().any(|item| item.head.is_model_made())
    }

    /// The fresh items after the last matched one.
    fn fresh_after(&self, matches: &[MessageMatch]) -> impl Iterator<Item = &Item> {
        let last = matches.iter().map(|matched| matched.incoming).max();
        let rest = last.map_or(0, |last| last + 1);
        let items = self.incoming.iter().zip(self.assessments).skip(rest);
        items.filter(|(_, assessment)| assessment.verdict.is_fresh()).map(|(item, _)| item)
    }
}
