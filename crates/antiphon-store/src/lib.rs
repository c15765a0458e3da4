//! Where Antiphon keeps conversations: the [`Store`] trait and the stores that fulfil it.
//!
//! A store keeps *threads*, append-only logs of items. A conversation names a thread; a response is
//! a range of one. Every call names the tenant: what belongs to another tenant does not exist.
//!
//! [`open`] opens the store that a URL names: a [`SqliteStore`] for one process, a [`PostgresStore`] for
//! any number of them.

mod background;
mod columns;
mod error;
mod ids;
mod inspect;
mod keys;
mod ledger_records;
mod ledgers;
mod line;
mod postgres;
mod records;
mod snapshot;
mod sqlite;
mod store;
mod url;
mod usage;
mod watches;

pub use background::{Background, EventPage, LeftJob, LoggedEvent, NewJob, Rest, Standing};
pub use error::StoreError;
pub use ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
pub use inspect::StoreState;
pub use ledger_records::{Binding, Kept, LedgerEntry, LedgerTurn, Named};
pub use ledgers::Ledgers;
pub use line::Line;
pub use postgres::PostgresStore;
pub use records::{
    Base, Conversation, Cursor, DueNotice, Earlier, Listing, NewResponse, Notice, Order, Page,
    Place, RequestDigest, ResponseRecord, Scope, Seq, Turn, WATCH,
};
pub use snapshot::{Holdings, ItemPlace, Snapshot};
pub use sqlite::SqliteStore;
pub use store::Store;
pub use url::{OpenError, check, inspect, open, snapshot};
pub use usage::Usage;
pub use watches::Watches;
