//! Outputs that arrive after a placeholder answered their call.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::{Resent, Rule, Verdict};
use crate::item::{Fingerprint, FingerprintKey, Item, Kind};
use crate::placeholder::{is_placeholder, late_output_message};
use crate::transcript::{HeldItem, Transcript};

/// Distinguishes late outputs from re-sent ones.
pub(super) struct LateOutputs<'a> {
    transcript: &'a Transcript,
    key: FingerprintKey,
    /// The positions of the stored messages that carry late outputs.
    carriers: OnceCell<HashMap<Fingerprint, usize>>,
}

impl<'a> LateOutputs<'a> {
    pub(super) fn new(transcript: &'a Transcript, key: FingerprintKey) -> Self {
        Self { transcript, key, carriers: OnceCell::new() }
    }

    /// The verdict on an output for the call that the output at `place` answers. Returns `None` if
    /// the stored output is a real one, or if the placeholder itself came back.
    pub(super) fn verdict(&self, place: usize, output: &Item) -> Option<Verdict> {
        let is_late = self.transcript.items()[place].is_placeholder() && !is_placeholder(output);
        is_late.then(|| match self.carrier_position(output) {
            Some(held) => Verdict::Resent(Resent { held, rule: Rule::SameCall, differs: false }),
            None => Verdict::LateOutput { made_up: place },
        })
    }

    /// The position of the stored message that carries `output`.
    fn carrier_position(&self, output: &Item) -> Option<usize> {
        let content = Fingerprint::from_item(self.key, &late_output_message(output)?)?;
        self.carriers.get_or_init(|| find_carriers(self.transcript)).get(&content).copied()
    }
}

fn find_carriers(transcript: &Transcript) -> HashMap<Fingerprint, usize> {
    let carries = |item: &HeldItem| item.head.kind == Kind::Message && item.is_placeholder();
    let held = transcript.items().iter().enumerate().filter(|(_, item)| carries(item));
    held.filter_map(|(position, item)| Some((item.fingerprint?, position))).collect()
}
