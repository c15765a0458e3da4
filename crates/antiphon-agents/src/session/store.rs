//! Sessions in a store of Antiphon: a SQLite file or a PostgreSQL database.

use std::fmt;
use std::sync::Arc;

use antiphon::item::{CallKey, FingerprintKey, IdSource, ItemId};
use antiphon::{HeldItem, Item};
use antiphon_store::{
    Conversation, ConversationId, OpenError, Shard, Store, StoreError, Tenant, ThreadId,
};
use async_trait::async_trait;
use bytes::Bytes;
use ring::digest;

use super::log::{Change, RunRecord, appended, apply, fold};
use super::random::Random;
use super::{SessionContent, SessionError, SessionStore};

/// Sessions in a SQLite file or a PostgreSQL database, which also stores the conversations of a
/// gateway.
///
/// A session is a conversation of the store: its entries are appended, and nothing is rewritten.
/// Its id comes from the tenant and the key.
///
/// ```
/// use antiphon_agents::session::{SessionStore, StoreSessions};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let sessions = StoreSessions::open("sqlite::memory:").await?;
/// sessions.append("user-7", &[antiphon_agents::user("Hello")], &[]).await.unwrap();
/// assert_eq!(sessions.load("user-7").await.unwrap().items.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct StoreSessions {
    store: Arc<dyn Store>,
    tenant: Tenant,
}

/// The tenant of sessions, if the application names none.
const TENANT: &str = "agents";

impl StoreSessions {
    /// Opens the store that `url` names: `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`.
    pub async fn open(url: &str) -> Result<Self, OpenError> {
        Ok(Self::new(antiphon_store::open(url).await?))
    }

    /// Sessions in this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, tenant: Tenant::new(TENANT) }
    }

    /// The sessions of one tenant. Those of others do not exist for it.
    #[must_use]
    pub fn tenant(self, name: &str) -> Self {
        Self { tenant: Tenant::new(name), ..self }
    }

    /// Waits for accepted writes, and closes the store.
    pub async fn close(&self) {
        self.store.close().await;
    }

    async fn append_entries(&self, key: &str, entries: &[Item]) -> Result<(), SessionError> {
        let id = self.id(key, "items");
        let held = || entries.iter().map(|entry| HeldItem::new(entry_id(), entry, KEY, None));
        match self.store.append_items(&self.tenant, &id, held().collect()).await {
            Err(StoreError::ConversationNotFound) => {}
            done => return done.map_err(unavailable),
        }
        match self.create(&id, Bytes::from_static(b"{}"), held().collect()).await {
            Ok(()) => Ok(()),
            // Another writer may have created it since.
            Err(error) => {
                match self.store.append_items(&self.tenant, &id, held().collect()).await {
                    Err(StoreError::ConversationNotFound) => Err(unavailable(error)),
                    done => done.map_err(unavailable),
                }
            }
        }
    }

    async fn create(
        &self,
        id: &ConversationId,
        metadata: Bytes,
        items: Vec<HeldItem>,
    ) -> Result<(), StoreError> {
        let conversation = Conversation { id: id.clone(), created_at: 0, metadata };
        let thread = ThreadId::issue(&mut Random);
        self.store.create_conversation(&self.tenant, conversation, thread, items).await
    }

    async fn entries(&self, key: &str) -> Result<Vec<Item>, SessionError> {
        let id = self.id(key, "items");
        let found = self.store.conversation(&self.tenant, &id).await.map_err(unavailable)?;
        let Some((_, end)) = found else { return Ok(Vec::new()) };
        let held = self.store.transcript(&self.tenant, end).await.map_err(unavailable)?;
        Ok(held.iter().filter_map(HeldItem::item).collect())
    }

    /// The id of a conversation of the session.
    fn id(&self, key: &str, purpose: &str) -> ConversationId {
        let mut ids = Derived::new(&[self.tenant.as_str(), key, purpose]);
        ConversationId::issue(Shard::issue(&mut ids), &mut ids)
    }
}

#[async_trait]
impl SessionStore for StoreSessions {
    async fn load(&self, key: &str) -> Result<SessionContent, SessionError> {
        fold(self.entries(key).await?).map_err(|error| damaged(key, &error))
    }

    async fn append(
        &self,
        key: &str,
        items: &[Item],
        started: &[CallKey],
    ) -> Result<(), SessionError> {
        let entries = appended(items, started);
        if entries.is_empty() { Ok(()) } else { self.append_entries(key, &entries).await }
    }

    async fn replace(&self, key: &str, old: usize, new: &[Item]) -> Result<(), SessionError> {
        let change = || Change::Replaced { old, new: new.to_vec() };
        if !apply(&mut self.load(key).await?, change()) {
            return Err(SessionError::Changed(key.to_owned()));
        }
        self.append_entries(key, &[change().into_item()]).await
    }

    async fn pop(&self, key: &str, tail: &[Item]) -> Result<bool, SessionError> {
        let change = || Change::Popped { tail: tail.to_vec() };
        let fits = apply(&mut self.load(key).await?, change());
        if fits {
            self.append_entries(key, &[change().into_item()]).await?;
        }
        Ok(fits)
    }

    async fn clear(&self, key: &str) -> Result<(), SessionError> {
        self.append_entries(key, &[Change::Cleared.into_item()]).await
    }

    async fn save_run(&self, key: &str, state: Option<&str>) -> Result<(), SessionError> {
        let id = self.id(key, "run");
        let run = state.map(serde_json::from_str).transpose();
        let record = RunRecord { run: run.map_err(|error| damaged(key, &error))? };
        let record = Bytes::from(serde_json::to_vec(&record).expect("a record has a JSON form"));
        let replaced = self.store.set_metadata(&self.tenant, &id, record.clone()).await;
        if replaced.map_err(unavailable)?.is_some() {
            return Ok(());
        }
        match self.create(&id, record.clone(), Vec::new()).await {
            Ok(()) => Ok(()),
            Err(error) => match self.store.set_metadata(&self.tenant, &id, record).await {
                Ok(None) => Err(unavailable(error)),
                done => done.map(drop).map_err(unavailable),
            },
        }
    }

    async fn run(&self, key: &str) -> Result<Option<String>, SessionError> {
        let id = self.id(key, "run");
        let found = self.store.conversation(&self.tenant, &id).await.map_err(unavailable)?;
        let Some((conversation, _)) = found else { return Ok(None) };
        let record: RunRecord =
            serde_json::from_slice(&conversation.metadata).map_err(|error| damaged(key, &error))?;
        Ok(record.run.map(|run| run.get().to_owned()))
    }
}

impl fmt::Debug for StoreSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreSessions").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

/// Nobody compares the fingerprints of sessions.
const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

/// The id of an entry in the store. Items keep their own ids in their bytes.
fn entry_id() -> ItemId {
    ItemId::from(Random.issue("entry_"))
}

/// Bytes that come from names: the same for the same names.
struct Derived {
    names: Vec<u8>,
    block: u32,
}

impl Derived {
    fn new(names: &[&str]) -> Self {
        let mut joined = Vec::new();
        for name in names {
            joined.extend_from_slice(&(name.len() as u64).to_be_bytes());
            joined.extend_from_slice(name.as_bytes());
        }
        Self { names: joined, block: 0 }
    }
}

impl IdSource for Derived {
    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(digest::SHA256_OUTPUT_LEN) {
            let mut context = digest::Context::new(&digest::SHA256);
            context.update(&self.block.to_be_bytes());
            context.update(&self.names);
            chunk.copy_from_slice(&context.finish().as_ref()[..chunk.len()]);
            self.block += 1;
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "an argument of map_err")]
fn unavailable(error: StoreError) -> SessionError {
    SessionError::Unavailable(error.to_string())
}

fn damaged(key: &str, error: &serde_json::Error) -> SessionError {
    SessionError::Damaged { key: key.to_owned(), reason: error.to_string() }
}
