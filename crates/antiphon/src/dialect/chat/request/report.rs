//! Reports the parts of a request that are left out.

use super::DIALECT;
use crate::dialect::request::{Omission, RequestPath, Unsupported};
use crate::json::Object;

/// The omissions of one request, in order.
#[derive(Default)]
pub(super) struct Report {
    omissions: Vec<Omission>,
}

impl Report {
    /// Reports that the value at `place` is left out. `because` completes a sentence about the API.
    pub(super) fn leave_out(&mut self, place: RequestPath, because: &str) {
        let message = format!("'{place}' is left out for {DIALECT}: {because}.");
        self.omissions.push(Omission { place, message });
    }

    /// Reports the fields of the item at `position` that are not among `carried`.
    pub(super) fn leave_out_fields(
        &mut self,
        position: usize,
        item: &Object<'_>,
        carried: &[&str],
    ) {
        for (name, raw) in item.iter() {
            if raw != "null" && !carried.contains(&name) {
                let place = RequestPath::Item(position, name.to_owned());
                self.leave_out(place, "it has no such field");
            }
        }
    }

    pub(super) fn into_omissions(self) -> Vec<Omission> {
        self.omissions
    }
}

/// The error for a value that the request needs. `because` is as in [`Report::leave_out`].
pub(super) fn unsupported(place: RequestPath, because: &str) -> Unsupported {
    let message = format!("'{place}' cannot be sent as {DIALECT}: {because}.");
    Unsupported { place, message }
}
