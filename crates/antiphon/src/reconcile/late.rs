//! Outputs that come after a made-up one answered their call.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::{Resent, Rule, Verdict};
use crate::item::{Fingerprint, FingerprintKey, Item, Kind};
use crate::made_up::{is_silence, message_of_late_output};
use crate::transcript::{HeldItem, Transcript};

/// Tells late outputs from what is held.
pub(super) struct Late<'a> {
    transcript: &'a Transcript,
    key: FingerprintKey,
    /// Where the messages are held that carry late outputs.
    told: OnceCell<HashMap<Fingerprint, usize>>,
}

impl<'a> Late<'a> {
    pub(super) fn new(transcript: &'a Transcript, key: FingerprintKey) -> Self {
        Self { transcript, key, told: OnceCell::new() }
    }

    /// The verdict on an output for the call that the output at `place` answers; `None` where that
    /// is a real one, or where the made-up one came back.
    pub(super) fn verdict(&self, place: usize, output: &Item) -> Option<Verdict> {
        let is_late = self.transcript.items()[place].is_made_up() && !is_silence(output);
        is_late.then(|| match self.told_at(output) {
            Some(held) => Verdict::Resent(Resent { held, rule: Rule::SameCall, differs: false }),
            None => Verdict::LateOutput { made_up: place },
        })
    }

    /// Where a message is held that carries `output`.
    fn told_at(&self, output: &Item) -> Option<usize> {
        let says = Fingerprint::of(self.key, &message_of_late_output(output)?)?;
        self.told.get_or_init(|| told(self.transcript)).get(&says).copied()
    }
}

fn told(transcript: &Transcript) -> HashMap<Fingerprint, usize> {
    let carries = |item: &HeldItem| item.head.kind == Kind::Message && item.is_made_up();
    let held = transcript.items().iter().enumerate().filter(|(_, item)| carries(item));
    held.filter_map(|(position, item)| Some((item.fingerprint?, position))).collect()
}
