//! Rule 4: messages without ids, matched by their position in the stored sequence.
//!
//! *Anchors* divide the input: items known by id or call, and outputs for stored calls that are
//! still unanswered. Messages before an anchor are matched backwards from it, so a replay may begin
//! anywhere. Messages after the last anchor are matched forwards from it. Without an anchor, the
//! replay has to begin where the transcript does. Matching may skip stored items that clients drop
//! on replay (reasoning, calls, assistant messages), but no user message.
//!
//! Each message costs one binary search, so the time is practically linear.

use std::ops::Range;

use super::assessment::Assessment;
use super::dialogue::{Dialogue, IncomingMessage, MessageMatch};
use super::{Resent, Rule, Verdict};
use crate::item::{FingerprintKey, Item};
use crate::transcript::Transcript;

pub(super) fn align(
    transcript: &Transcript,
    incoming: &[Item],
    key: FingerprintKey,
    assessments: &mut [Assessment],
) {
    let dialogue = Dialogue::new(transcript);
    if dialogue.is_empty() {
        return;
    }
    let mut messages = Vec::new();
    let mut anchor_end = None;
    for (position, item) in incoming.iter().enumerate() {
        if let Some(anchor) = anchor(&dialogue, assessments[position]) {
            let before = anchor_end.unwrap_or_default()..anchor.start;
            mark_resent(dialogue.match_backwards(before, &messages), assessments);
            messages.clear();
            anchor_end = anchor_end.max(Some(anchor.end));
        } else if assessments[position].verdict == Verdict::Fresh {
            messages.extend(IncomingMessage::from_item(position, item, key));
        }
    }
    let tail = Tail { transcript, dialogue: &dialogue, incoming, assessments };
    let matches = match anchor_end {
        Some(anchor_end) => tail.match_after_anchor(anchor_end, &messages),
        None => tail.match_without_anchor(&messages),
    };
    mark_resent(matches, assessments);
}

fn mark_resent(matches: Vec<MessageMatch>, assessments: &mut [Assessment]) {
    for MessageMatch { incoming, held, is_deleted, .. } in matches {
        let resent = Resent { held, rule: Rule::Replayed, differs: false };
        let resent = Verdict::Resent(resent);
        assessments[incoming].verdict = if is_deleted { Verdict::Deleted } else { resent };
    }
}

/// The position in the transcript at which an incoming item certainly belongs. Earlier items of the
/// input belong before the range, later ones after it.
fn anchor(dialogue: &Dialogue, assessment: Assessment) -> Option<Range<usize>> {
    let place = assessment.place?;
    match assessment.verdict {
        Verdict::Resent(_) | Verdict::Deleted | Verdict::LateOutput { .. } => {
            Some(place..place + 1)
        }
        // An output for the call at `place`. Text that the model wrote next to the call precedes
        // the output and the next user message.
        _ => {
            let next = dialogue.next_user_after(place).unwrap_or(usize::MAX);
            Some(next..next)
        }
    }
}

/// The input after its last anchor.
struct Tail<'a> {
    transcript: &'a Transcript,
    dialogue: &'a Dialogue,
    incoming: &'a [Item],
    assessments: &'a [Assessment],
}

impl Tail<'_> {
    /// All matches count if they skip no stored user message and leave something fresh after them.
    /// Otherwise only those up to the last assistant message do: a delta never contains one.
    fn match_after_anchor(
        &self,
        anchor_end: usize,
        messages: &[IncomingMessage],
    ) -> Vec<MessageMatch> {
        let mut run = self.dialogue.match_forwards(anchor_end..usize::MAX, messages);
        let leaves_something = self.fresh_after(&run.matches).next().is_some();
        if !(run.covers_all_users && leaves_something) {
            truncate_after_last_assistant(&mut run.matches);
        }
        run.matches
    }

    /// The input counts as a replay if it has every user message from the first on, and after them
    /// something fresh that can continue the transcript.
    ///
    /// Otherwise the client may have forgotten a turn that it left, repeat a text on purpose, or
    /// forward the texts of others. Then only the matches up to the last assistant message count: a
    /// delta never contains one.
    fn match_without_anchor(&self, messages: &[IncomingMessage]) -> Vec<MessageMatch> {
        let mut run = self.dialogue.match_forwards(0..usize::MAX, messages);
        if !(run.covers_all_users && self.can_continue_after(&run.matches)) {
            truncate_after_last_assistant(&mut run.matches);
        }
        run.matches
    }

    /// Whether the fresh items after a replay can continue the transcript. Once the model has
    /// answered, a fresh call and its output can only belong to the message before them, so that
    /// message is not a replay.
    fn can_continue_after(&self, matches: &[MessageMatch]) -> bool {
        let is_answered = self.is_answered();
        self.fresh_after(matches).any(|item| {
            let head = item.head();
            !is_answered || !head.is_model_made() && head.kind.call().is_none()
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

fn truncate_after_last_assistant(matches: &mut Vec<MessageMatch>) {
    let last = matches.iter().rposition(|matched| !matched.is_user);
    matches.truncate(last.map_or(0, |last| last + 1));
}
