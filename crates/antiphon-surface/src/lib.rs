//! The engine over JSON texts: what the Python and Node packages share.
//!
//! Items come as the text of an array; what comes back names those that stay by their position, so
//! that whoever holds them as objects of its language keeps the very objects.

mod finding;
mod mended;

use antiphon::item::{ListError, items_of};
use antiphon::repair;
use bytes::Bytes;

pub use finding::Finding;
pub use mended::{Mended, Place};

/// What a provider would refuse in `items`, in the order in which it would name it.
pub fn check(items: &Bytes) -> Result<Vec<Finding>, ListError> {
    let items = items_of(items)?;
    let found = |(position, fault)| Finding::of_fault(&items, position, &fault);
    Ok(repair::check(&items).into_iter().map(found).collect())
}
