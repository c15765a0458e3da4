//! The number of cases that a test tries.

use antiphon_mock::OnAbort;

const ON_ABORT: [OnAbort; 3] = [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing];

/// The outcomes of an abort that are tried after each event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// One outcome, in turn: each event and each outcome is tried, but not each pair of them.
    Sample,
    /// All outcomes.
    All,
}

impl Extent {
    /// The outcomes to try after the event with this number.
    pub(crate) fn outcomes(self, event: usize) -> impl Iterator<Item = OnAbort> {
        let is_tried = move |number: &usize| self == Self::All || event % ON_ABORT.len() == *number;
        (0..ON_ABORT.len()).filter(is_tried).map(|number| ON_ABORT[number])
    }
}
