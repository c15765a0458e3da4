//! Implements [`BackgroundJobs`] for [`SqliteStore`].

use async_trait::async_trait;

use super::writer::Effect;
use super::{SqliteStore, events, jobs};
use crate::background::{BackgroundJobs, ClaimedJob, EventPage, JobStatus, LoggedEvent, NewJob};
use crate::error::StoreError;
use crate::ids::{ResponseId, Shard, Tenant};
use crate::records::{Cursor, RequestDigest, TurnRecord};

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl BackgroundJobs for SqliteStore {
    async fn accept(&self, tenant: &Tenant, job: NewJob) -> Result<()> {
        let tenant = tenant.clone();
        self.write(Effect::Synced, move |db| jobs::accept(db, &tenant, &job)).await
    }

    async fn status(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<JobStatus>> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.read(move |db| jobs::status(db, &tenant, &id)).await
    }

    async fn open_jobs(
        &self,
        tenant: &Tenant,
        shard: Shard,
        request: &RequestDigest,
    ) -> Result<Vec<ResponseId>> {
        let (tenant, request) = (tenant.clone(), *request);
        self.read(move |db| jobs::open(db, &tenant, shard, &request)).await
    }

    async fn append(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
        events: Vec<LoggedEvent>,
    ) -> Result<()> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.write(Effect::Unsynced, move |db| jobs::append(db, &tenant, &id, &events)).await
    }

    async fn events(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
        from: u64,
    ) -> Result<Option<EventPage>> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.read(move |db| events::page(db, &tenant, &id, from)).await
    }

    async fn cancel(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.write(Effect::Synced, move |db| jobs::cancel(db, &tenant, &id)).await
    }

    async fn cancelled_jobs(&self) -> Result<Vec<(Tenant, ResponseId)>> {
        self.read(jobs::cancelled_jobs).await
    }

    async fn set_cursor(&self, tenant: &Tenant, id: &ResponseId, cursor: Cursor) -> Result<()> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.write(Effect::Unsynced, move |db| jobs::set_cursor(db, &tenant, &id, cursor)).await
    }

    async fn end(
        &self,
        tenant: &Tenant,
        turn: TurnRecord,
        last: LoggedEvent,
        expires_at: i64,
    ) -> Result<()> {
        let tenant = tenant.clone();
        self.write(Effect::Synced, move |db| jobs::end(db, &tenant, &turn, &last, expires_at)).await
    }

    async fn release(&self, tenant: &Tenant, id: &ResponseId) -> Result<()> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.write(Effect::Unsynced, move |db| jobs::release(db, &tenant, &id)).await
    }

    async fn claim_next(&self) -> Result<Option<ClaimedJob>> {
        self.write(Effect::Unsynced, jobs::claim_next).await
    }

    async fn expire(&self, now: i64) -> Result<bool> {
        self.write(Effect::Unsynced, move |db| jobs::expire(db, now)).await
    }
}
