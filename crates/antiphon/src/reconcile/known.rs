//! What ids and calls tell of an input.

use super::calls::Calls;
use super::identity::{ById, Identity};
use super::{Resent, Rule, Verdict};
use crate::item::{FingerprintKey, Item};
use crate::transcript::Transcript;

/// What is known of an incoming item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) verdict: Verdict,
    /// Where in the transcript it certainly belongs: at the item that it is, or behind the call
    /// that it answers.
    pub(super) place: Option<usize>,
}

/// Knows items by their ids and calls; everything else is fresh so far.
pub(super) fn by_id_and_call(
    transcript: &Transcript,
    incoming: &[Item],
    key: FingerprintKey,
) -> Vec<Known> {
    let mut identity = Identity::new(transcript, incoming, key);
    let mut calls = Calls::new(transcript, incoming, key);
    let mut known: Vec<Known> = Vec::with_capacity(incoming.len());
    for position in 0..incoming.len() {
        let next = match identity.of(position) {
            ById::Held { place, differs } => {
                calls.pass(position, place);
                Known::held(transcript, place, Rule::SameId, differs)
            }
            ById::Repeats(first) if calls.repeats(first, position) => {
                Known::fresh().with(Verdict::Duplicate(first))
            }
            ById::Repeats(_) | ById::Used => calls.of(position, &known).under_used_id(),
            ById::Unknown => calls.of(position, &known),
        };
        known.push(next);
    }
    known
}

impl Known {
    pub(super) fn fresh() -> Self {
        Self { verdict: Verdict::Fresh, place: None }
    }

    /// A fresh output for the call at `place`.
    pub(super) fn answering(place: usize) -> Self {
        Self { verdict: Verdict::Fresh, place: Some(place) }
    }

    /// It is the item held at `place`.
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
