//! Arguments that cannot be parsed.

use antiphon::Item;
use antiphon::item::{self, ListError};
use bytes::Bytes;

/// An argument that is not an array of items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{argument}: {reason}")]
pub struct InvalidArgument {
    /// The argument.
    pub argument: &'static str,
    /// The fault.
    pub reason: ListError,
}

impl InvalidArgument {
    /// The position of an element that is not an item; `None` if the argument is not an array.
    pub fn position(&self) -> Option<usize> {
        match self.reason {
            ListError::NotAnArray(_) => None,
            ListError::Item { position, .. } => Some(position),
        }
    }
}

/// The items of an argument.
pub(crate) fn parse_items(
    argument: &'static str,
    text: &Bytes,
) -> Result<Vec<Item>, InvalidArgument> {
    item::parse_items(text).map_err(|reason| InvalidArgument { argument, reason })
}
