//! The API of a server that stores state: how to list stored items and responses, and how to read
//! the answers.

mod attempt;
mod listing;
mod objections;
mod response;
mod segment;

pub use attempt::{run_of, tail_of};
pub use listing::{Cursor, Listing};
pub use objections::Objections;
pub use response::{StoredResponse, answers_to};
pub use segment::Segment;

/// The server's answer does not have the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Garbled(pub String);

impl Garbled {
    fn as_is(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}
