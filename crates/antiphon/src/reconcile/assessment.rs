//! Rules 1 and 2: the verdicts that follow from ids and calls.

use super::calls::Calls;
use super::identity::{ById, Identity};
use super::{Resent, Rule, Verdict};
use crate::item::{FingerprintKey, Item};
use crate::transcript::Transcript;

/// The verdict on an incoming item so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assessment {
    pub(super) verdict: Verdict,
    /// The position in the transcript at which the item certainly belongs: that of the item that it
    /// repeats, or of the call that it answers.
    pub(super) place: Option<usize>,
}

/// Applies the rules for ids and calls. Every other item is fresh so far.
pub(super) fn assess_by_id_and_call(
    transcript: &Transcript,
    incoming: &[Item],
    key: FingerprintKey,
) -> Vec<Assessment> {
    let mut identity = Identity::new(transcript, incoming, key);
    let mut calls = Calls::new(transcript, incoming, key);
    let mut assessments: Vec<Assessment> = Vec::with_capacity(incoming.len());
    for position in 0..incoming.len() {
        let next = match identity.look_up(position) {
            ById::Held { place, differs } => {
                calls.skip(position, place);
                Assessment::held(transcript, place, Rule::SameId, differs)
            }
            ById::Repeats(first) if calls.is_repetition(first, position) => {
                Assessment::fresh().with(Verdict::Duplicate(first))
            }
            ById::Repeats(_) | ById::Used => calls.assess(position, &assessments).under_used_id(),
            ById::Unknown => calls.assess(position, &assessments),
        };
        assessments.push(next);
    }
    assessments
}

impl Assessment {
    pub(super) fn fresh() -> Self {
        Self { verdict: Verdict::Fresh, place: None }
    }

    /// A fresh output for the call at `place`.
    pub(super) fn for_output(place: usize) -> Self {
        Self { verdict: Verdict::Fresh, place: Some(place) }
    }

    /// The incoming item is the one stored at `place`.
    pub(super) fn held(transcript: &Transcript, place: usize, rule: Rule, differs: bool) -> Self {
        let resent = Verdict::Resent(Resent { held: place, rule, differs });
        let is_deleted = transcript.items()[place].is_tombstone();
        Self { verdict: if is_deleted { Verdict::Deleted } else { resent }, place: Some(place) }
    }

    pub(super) fn with(self, verdict: Verdict) -> Self {
        Self { verdict, ..self }
    }

    fn under_used_id(self) -> Self {
        match self.verdict {
            Verdict::Fresh => self.with(Verdict::FreshUnderUsedId),
            _ => self,
        }
    }
}
