//! Implements [`BackgroundJobs`] for [`PostgresStore`].

use async_trait::async_trait;

use super::calls::{read, transact};
use super::shared::Shared;
use super::transaction::{Effect, Lock};
use super::{PostgresStore, events, jobs, ledger_names};
use crate::background::{BackgroundJobs, ClaimedJob, EventPage, JobStatus, LoggedEvent, NewJob};
use crate::error::StoreError;
use crate::ids::{ResponseId, Shard, Tenant};
use crate::records::{Cursor, RequestDigest, TurnRecord};

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl BackgroundJobs for PostgresStore {
    async fn accept(&self, tenant: &Tenant, job: NewJob) -> Result<()> {
        transact!(
            self,
            Synced,
            unlocked,
            (tenant = tenant.clone(), job, holder = self.holder()),
            |db| jobs::accept(db, tenant, job, holder)
        )
    }

    async fn status(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<JobStatus>> {
        let holder = self.holder();
        read!(self, (tenant, id, holder), |db| jobs::status(db, tenant, id, holder))
    }

    async fn open_jobs(
        &self,
        tenant: &Tenant,
        shard: Shard,
        request: &RequestDigest,
    ) -> Result<Vec<ResponseId>> {
        read!(self, (tenant, shard, request), |db| jobs::open(db, tenant, *shard, request))
    }

    async fn append(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
        events: Vec<LoggedEvent>,
    ) -> Result<()> {
        transact!(
            self,
            Unsynced,
            unlocked,
            (tenant = tenant.clone(), id = id.clone(), events, holder = self.holder()),
            |db| jobs::append(db, tenant, id, events, holder)
        )
    }

    async fn events(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
        from: u64,
    ) -> Result<Option<EventPage>> {
        let holder = self.holder();
        read!(self, (tenant, id, from, holder), |db| events::page(db, tenant, id, *from, holder))
    }

    async fn cancel(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
        transact!(self, Synced, unlocked, (tenant = tenant.clone(), id = id.clone()), |db| {
            jobs::cancel(db, tenant, id)
        })
    }

    async fn cancelled_jobs(&self) -> Result<Vec<(Tenant, ResponseId)>> {
        let holder = self.holder();
        read!(self, (holder), |db| jobs::cancelled_jobs(db, holder))
    }

    async fn set_cursor(&self, tenant: &Tenant, id: &ResponseId, cursor: Cursor) -> Result<()> {
        transact!(
            self,
            Unsynced,
            tree(tenant, cursor.shard),
            (id = id.clone(), cursor, holder = self.holder()),
            |db| jobs::set_cursor(db, tenant, id, *cursor, holder)
        )
    }

    async fn end(
        &self,
        tenant: &Tenant,
        turn: TurnRecord,
        last: LoggedEvent,
        expires_at: i64,
    ) -> Result<()> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), turn, (last, expires_at), self.holder());
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.1.destination.shard());
            let work = shared.write(Effect::Synced, tree, &given, |db, given| {
                let (tenant, turn, (last, expires_at), holder) = given;
                Box::pin(jobs::end(db, tenant, turn, (last, *expires_at), holder))
            });
            let ended = work.await;
            if ended == Err(StoreError::Erased) {
                forget_erased(&shared, &given.0, &given.1).await?;
            }
            ledger_names::delete_outlived(&shared, &given.0, ended?).await;
            Ok(())
        })
        .await
    }

    async fn release(&self, tenant: &Tenant, id: &ResponseId) -> Result<()> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), id.clone(), self.holder());
        self.call(async move {
            let work = shared.run(&given, |db, (tenant, id, holder)| {
                Box::pin(jobs::release(db, tenant, id, holder))
            });
            work.await
        })
        .await
    }

    async fn claim_next(&self) -> Result<Option<ClaimedJob>> {
        transact!(self, Unsynced, unlocked, (holder = self.holder()), |db| {
            jobs::claim_next(db, holder)
        })
    }

    async fn expire(&self, now: i64) -> Result<bool> {
        transact!(self, Unsynced, unlocked, (now), |db| jobs::expire(db, *now))
    }
}

/// Deletes a job that was accepted while its tenant was erased. It can never end.
async fn forget_erased(shared: &Shared, tenant: &Tenant, turn: &TurnRecord) -> Result<()> {
    let Some(response) = &turn.response else { return Ok(()) };
    shared
        .write(Effect::Unsynced, Lock::Nothing, &(tenant, &response.id), |db, (tenant, id)| {
            Box::pin(jobs::remove(db, tenant, id))
        })
        .await
}
