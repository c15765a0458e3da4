//! The API of a server that stores state: how to list stored items and responses, and how to read
//! the answers.
//!
//! ```
//! use antiphon::provider_api::{Cursor, Listing};
//!
//! let mut listing = Listing::new(Cursor::LastId);
//! assert_eq!(listing.query().as_deref(), Some("order=asc&limit=100"));
//! let page = r#"{"data":[{"id":"msg_1","role":"user","content":"Hi"}],"has_more":false}"#;
//! listing.add(&page.into()).unwrap();
//! assert_eq!(listing.query(), None);
//! assert_eq!(listing.into_items().len(), 1);
//! ```

mod attempt;
mod chain;
mod detour;
mod listing;
mod refused_items;
mod response;
mod segment;
mod server_error;

pub use attempt::{find_attempt_at_tail, find_attempt_run};
pub use chain::{Chain, ChainOptions, ChainStep, ChainWalk};
pub use detour::{Detour, DetourSearch, DetourStep};
pub use listing::{Cursor, Listing};
pub use refused_items::RefusedItems;
pub use response::{StoredResponse, implied_outputs};
pub use segment::Segment;
pub use server_error::{ServerError, depends_on_state};

/// The server's answer does not have the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnexpectedAnswer(pub String);

impl UnexpectedAnswer {
    fn as_is(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}
