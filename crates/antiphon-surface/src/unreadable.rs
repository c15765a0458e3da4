//! What cannot be read.

use antiphon::Item;
use antiphon::item::{self, ListError};
use bytes::Bytes;

/// An argument that is no array of items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{argument}: {reason}")]
pub struct Unreadable {
    /// Which argument.
    pub argument: &'static str,
    /// What is wrong with it.
    pub reason: ListError,
}

impl Unreadable {
    /// The position of what is no item; `None` where the argument is no array.
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
