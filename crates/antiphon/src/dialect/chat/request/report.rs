//! What was left out of a request.

use super::DIALECT;
use crate::dialect::request::{Omission, Place, Unsupported};
use crate::json::Object;

/// The omissions of one request, in the order in which they were met.
#[derive(Default)]
pub(super) struct Report {
    omissions: Vec<Omission>,
}

impl Report {
    /// Something is left out. `because` ends a sentence that begins with the place and the dialect.
    pub(super) fn leave_out(&mut self, place: Place, because: &str) {
        let message = format!("'{place}' is left out for {DIALECT}: {because}.");
        self.omissions.push(Omission { place, message });
    }

    /// Of the fields of the item at `position`, those that are not among `carried`.
    pub(super) fn leave_out_fields(
        &mut self,
        position: usize,
        item: &Object<'_>,
        carried: &[&str],
    ) {
        for (name, raw) in item.iter() {
            if raw != "null" && !carried.contains(&name) {
                let place = Place::Item(position, name.to_owned());
                self.leave_out(place, "it has no such field");
            }
        }
    }

    pub(super) fn into_omissions(self) -> Vec<Omission> {
        self.omissions
    }
}

/// Something that the request cannot go without. `because` ends a sentence as in a [`Report`].
pub(super) fn unsupported(place: Place, because: &str) -> Unsupported {
    let message = format!("'{place}' cannot be sent as {DIALECT}: {because}.");
    Unsupported { place, message }
}
