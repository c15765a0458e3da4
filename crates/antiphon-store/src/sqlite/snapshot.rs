//! A consistent read of a whole file: one reading transaction, even while a process has the file
//! open.

use std::ops::Range;
use std::path::Path;

use antiphon::HeldItem;
use async_trait::async_trait;
use bytes::Bytes;
use rusqlite::Connection;
use tokio::task::spawn_blocking;

use super::{
    connection, data_counts, named_values, pages, pending_turns, responses, schema, summaries,
    threads,
};
use crate::error::StoreError;
use crate::ids::{ConversationId, ResponseId, Shard, Tenant, ThreadId};
use crate::keys::ThreadKey;
use crate::ledger_records::LedgerEntry;
use crate::records::{ResponseRecord, Seq, TurnRecord};
use crate::restore::ThreadRecord;
use crate::snapshot::{DataCounts, ItemPlace, ListedConversation, LooseItems, Snapshot};
use crate::usage::Usage;

type Result<T> = std::result::Result<T, StoreError>;

/// A [`Snapshot`] of a file.
pub(crate) struct SqliteSnapshot {
    /// `None` during a read, and for good after a read that panicked.
    db: Option<Connection>,
}

impl SqliteSnapshot {
    /// Takes a snapshot of the file at `path`, even if a process has it open. Creates no file, and
    /// rejects one of another version without changing it.
    pub(crate) fn take(path: &Path) -> Result<Self> {
        let path = std::path::absolute(path)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let db = connection::open_existing(&path)?;
        db.execute_batch("BEGIN")?;
        schema::check_owner(&db)?;
        schema::check_current(&db)?;
        Ok(Self { db: Some(db) })
    }

    pub(super) async fn read<T, F>(&mut self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let db = self.db.take().ok_or_else(|| StoreError::Unavailable("a read panicked".into()))?;
        let reading = spawn_blocking(move || (work(&db), db)).await;
        let (read, db) = reading.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        self.db = Some(db);
        read
    }
}

#[async_trait]
impl Snapshot for SqliteSnapshot {
    async fn next_tenant(&mut self, after: Option<&Tenant>) -> Result<Option<Tenant>> {
        let after = after.cloned();
        self.read(move |db| data_counts::next_tenant(db, after.as_ref())).await
    }

    async fn count_data(&mut self, tenant: &Tenant) -> Result<DataCounts> {
        let tenant = tenant.clone();
        self.read(move |db| data_counts::count(db, &tenant)).await
    }

    async fn usage(&mut self, tenant: &Tenant) -> Result<Usage> {
        let tenant = tenant.clone();
        self.read(move |db| summaries::usage(db, &tenant)).await
    }

    async fn value(&mut self, name: &'static str) -> Result<Option<Bytes>> {
        let found = self.read(move |db| named_values::find(db, name)).await?;
        Ok(found.map(Bytes::from))
    }

    async fn conversations(
        &mut self,
        tenant: &Tenant,
        after: Option<&ConversationId>,
    ) -> Result<Vec<ListedConversation>> {
        let (tenant, after) = (tenant.clone(), after.cloned());
        self.read(move |db| pages::conversations(db, &tenant, after.as_ref())).await
    }

    async fn responses(
        &mut self,
        tenant: &Tenant,
        after: Option<&ResponseId>,
    ) -> Result<Vec<ResponseId>> {
        let (tenant, after) = (tenant.clone(), after.cloned());
        self.read(move |db| pages::responses(db, &tenant, after.as_ref())).await
    }

    async fn response(
        &mut self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Result<Option<ResponseRecord>> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.read(move |db| responses::find(db, &tenant, &id)).await
    }

    async fn ledgers(
        &mut self,
        tenant: &Tenant,
        after: Option<&str>,
    ) -> Result<Vec<(String, LedgerEntry)>> {
        let (tenant, after) = (tenant.clone(), after.map(str::to_owned));
        self.read(move |db| pages::ledgers(db, &tenant, after.as_deref())).await
    }

    async fn pending_turns(
        &mut self,
        tenant: &Tenant,
        after: Option<&ResponseId>,
    ) -> Result<Vec<ResponseId>> {
        let (tenant, after) = (tenant.clone(), after.cloned());
        self.read(move |db| pages::pending_turns(db, &tenant, after.as_ref())).await
    }

    async fn pending_turn(
        &mut self,
        tenant: &Tenant,
        id: &ResponseId,
    ) -> Result<Option<TurnRecord>> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.read(move |db| pending_turns::find(db, &tenant, &id)).await
    }

    async fn thread(
        &mut self,
        tenant: &Tenant,
        (shard, thread): (Shard, ThreadId),
    ) -> Result<Option<ThreadRecord>> {
        let tenant = tenant.clone();
        self.read(move |db| threads::record(db, ThreadKey::new(&tenant, shard, thread))).await
    }

    async fn items(
        &mut self,
        tenant: &Tenant,
        (shard, thread): (Shard, ThreadId),
        range: Range<Seq>,
    ) -> Result<Vec<(Seq, HeldItem)>> {
        let tenant = tenant.clone();
        self.read(move |db| pages::items(db, ThreadKey::new(&tenant, shard, thread), &range)).await
    }

    async fn loose_items(
        &mut self,
        tenant: &Tenant,
        after: Option<ItemPlace>,
    ) -> Result<LooseItems> {
        let tenant = tenant.clone();
        self.read(move |db| pages::loose_items(db, &tenant, after)).await
    }
}
