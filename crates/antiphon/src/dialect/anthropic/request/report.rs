//! What a request loses on its way into the dialect.

use crate::dialect::request::{Omission, Place, Unsupported};

/// What was left out so far.
#[derive(Default)]
pub(super) struct Report(Vec<Omission>);

impl Report {
    /// What stands at `place` is left out. `why` names the dialect.
    pub(super) fn leave_out(&mut self, place: Place, why: &str) {
        let message = format!("'{place}' is left out: {why}");
        self.0.push(Omission { place, message });
    }

    /// What stands at `place` is sent in another form. `how` names the dialect.
    pub(super) fn change(&mut self, place: Place, how: &str) {
        let message = format!("'{place}' is changed: {how}");
        self.0.push(Omission { place, message });
    }

    pub(super) fn into_omissions(self) -> Vec<Omission> {
        self.0
    }
}

/// The error that what stands at `place` cannot be sent. `why` names the dialect.
pub(super) fn unsupported(place: Place, why: &str) -> Unsupported {
    let message = format!("'{place}' cannot be sent: {why}");
    Unsupported { place, message }
}
