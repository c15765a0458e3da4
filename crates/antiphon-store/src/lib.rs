//! Storage of conversations: the [`Store`] trait and its implementations.
//!
//! A store holds *threads*, which are append-only logs of items. A conversation names a thread; a
//! response is a range of a thread. Every call takes the tenant: data of other tenants does not
//! exist for it.
//!
//! [`open`] opens the store that a URL names: a [`SqliteStore`] for a single process, or a
//! [`PostgresStore`], which any number of processes can share.
//!
//! ```
//! use antiphon::IdSource;
//! use antiphon_store::{Conversation, ConversationId, Shard, Tenant, ThreadId, open};
//!
//! # struct Counter(u8);
//! # impl IdSource for Counter {
//! #     fn fill(&mut self, bytes: &mut [u8]) {
//! #         self.0 += 1;
//! #         bytes.fill(self.0);
//! #     }
//! # }
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let store = open("sqlite::memory:").await?;
//! let tenant = Tenant::new("acme");
//! // `Counter` creates ids.
//! let mut ids = Counter(0);
//! let id = ConversationId::issue(Shard::issue(&mut ids), &mut ids);
//! let conversation = Conversation { id: id.clone(), created_at: 0, metadata: "{}".into() };
//! let thread = ThreadId::issue(&mut ids);
//! store.create_conversation(&tenant, conversation, thread, Vec::new()).await?;
//!
//! assert!(store.conversation(&tenant, &id).await?.is_some());
//! assert!(store.conversation(&Tenant::new("other"), &id).await?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod background;
mod description;
mod encoding;
mod error;
mod hot_transcripts;
mod ids;
mod item_columns;
mod item_index;
mod keys;
mod ledger_records;
mod ledgers;
mod listings;
mod observer;
mod postgres;
mod records;
mod restore;
mod snapshot;
mod sqlite;
mod store;
mod url;
mod usage;
mod watches;

pub use background::{
    BackgroundJobs, ClaimedJob, EventPage, JobStatus, LogState, LoggedEvent, NewJob,
};
pub use description::StoreDescription;
pub use error::StoreError;
pub use hot_transcripts::{HotTranscripts, ResponseEnd, StoreVersion};
pub use ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
pub use ledger_records::{Binding, LedgerEntry, LedgerSubject, LedgerUpdate, UpstreamId};
pub use ledgers::Ledgers;
pub use listings::{
    ListedOpenTurn, ListedResponse, ListedSegment, ListedThread, ListedTurn, Listings, NewestPage,
    Recency, Tree,
};
pub use observer::{StoreLoad, StoreObserver};
pub use postgres::PostgresStore;
pub use records::{
    ClaimedNotice, Conversation, Cursor, Destination, ItemPage, ListScope, NewResponse, Notice,
    Order, PageRequest, PriorTurn, QueuePlace, RETRY_WINDOW, RequestDigest, ResponseRecord, Seq,
    TurnCopy, TurnRecord, WATCH_ENDPOINT,
};
pub use restore::{
    ItemFeed, ItemSender, Restored, RestoredObject, Restorer, ThreadRecord, item_feed,
};
pub use snapshot::{DataCounts, ItemPlace, ListedConversation, Snapshot, StoreState};
pub use sqlite::SqliteStore;
pub use store::{LeaseQueue, Store};
pub use url::{OpenError, check, describe, inspect, listings, open, snapshot};
pub use usage::Usage;
pub use watches::Watches;
