//! What a server that keeps state says of what it keeps: how it is asked, and how its answers are read.

mod answers;
mod attempt;
mod listing;
mod objections;
mod response;
mod segment;

pub use answers::answers_to;
pub use attempt::{run_of, tail_of};
pub use listing::{Cursor, Listing};
pub use objections::Objections;
pub use response::KeptResponse;
pub use segment::Segment;

/// What a server answered is not what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Garbled(pub String);

impl Garbled {
    fn as_is(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}
