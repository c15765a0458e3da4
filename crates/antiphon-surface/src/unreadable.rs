//! Arguments that cannot be parsed.

use antiphon::Item;
use antiphon::item::{self, ListError};
use bytes::Bytes;

/// An argument that is not an array of items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{argument}: {reason}")]
pub struct Unreadable {
    /// The argument.
    pub argument: &'static str,
    /// The fault.
    pub reason: ListError,
}

impl Unreadable {
    /// The position of an element that is not an item; `None` if the argument is not an array.
    pub fn position(&self) -> Option<usize> {
        match self.reason {
            ListError::NotAnArray(_) => None,
            ListError::Item { position, .. } => Some(position),
        }
    }
}

/// The items of an argument.
pub(crate) fn items_of(argument: &'static str, text: &Bytes) -> Result<Vec<Item>, Unreadable> {
    item::items_of(text).map_err(|reason| Unreadable { argument, reason })
}
