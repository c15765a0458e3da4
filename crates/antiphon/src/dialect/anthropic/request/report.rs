//! Reports the parts of a request that are left out or changed.

use crate::dialect::request::{Omission, RequestPath, Unsupported};

/// The omissions and changes so far.
#[derive(Default)]
pub(super) struct Report(Vec<Omission>);

impl Report {
    /// Reports that the value at `place` is left out. `why` names the API.
    pub(super) fn leave_out(&mut self, place: RequestPath, why: &str) {
        let message = format!("'{place}' is left out: {why}");
        self.0.push(Omission { place, message });
    }

    /// Reports that the value at `place` is sent in another form. `how` names the API.
    pub(super) fn change(&mut self, place: RequestPath, how: &str) {
        let message = format!("'{place}' is changed: {how}");
        self.0.push(Omission { place, message });
    }

    pub(super) fn into_omissions(self) -> Vec<Omission> {
        self.0
    }
}

/// The error for a value at `place` that cannot be sent. `why` names the API.
pub(super) fn unsupported(place: RequestPath, why: &str) -> Unsupported {
    let message = format!("'{place}' cannot be sent: {why}");
    Unsupported { place, message }
}
