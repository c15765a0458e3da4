//! Storage of conversations: the [`Store`] trait and its implementations.
//!
//! A store holds *threads*, which are append-only logs of items. A conversation names a thread; a
//! response is a range of a thread. Every call takes the tenant: data of other tenants does not
//! exist for it.
//!
//! [`open`] opens the store that a URL names: a [`SqliteStore`] for a single process, or a
//! [`PostgresStore`], which any number of processes can share.

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

pub use background::{Background, EventPage, JobStanding, LeftJob, LoggedEvent, NewJob, Rest};
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
