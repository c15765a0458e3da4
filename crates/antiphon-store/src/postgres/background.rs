//! Implements [`BackgroundJobs`] for [`PostgresStore`].

use async_trait::async_trait;

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
        let (shared, given) = (self.shared.clone(), (tenant.clone(), job, self.holder()));
        self.call(async move {
            let work = shared.write(Effect::Synced, Lock::Nothing, &given, |db, given| {
                let (tenant, job, holder) = given;
                Box::pin(jobs::accept(db, tenant, job, holder))
            });
            work.await
        })
        .await
    }

    async fn status(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<JobStatus>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, id, self.holder()), |db, (tenant, id, holder)| {
                Box::pin(jobs::status(db, tenant, id, holder))
            })
            .await
    }

    async fn open_jobs(
        &self,
        tenant: &Tenant,
        shard: Shard,
        request: &RequestDigest,
    ) -> Result<Vec<ResponseId>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, shard, request), |db, (tenant, shard, request)| {
                Box::pin(jobs::open(db, tenant, *shard, request))
            })
            .await
    }

    async fn append(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
        events: Vec<LoggedEvent>,
    ) -> Result<()> {
        let given = (tenant.clone(), id.clone(), events, self.holder());
        let shared = self.shared.clone();
        self.call(async move {
            let work = shared.write(Effect::Unsynced, Lock::Nothing, &given, |db, given| {
                let (tenant, id, events, holder) = given;
                Box::pin(jobs::append(db, tenant, id, events, holder))
            });
            work.await
        })
        .await
    }

    async fn events(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
        from: u64,
    ) -> Result<Option<EventPage>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, id, from, self.holder()), |db, (tenant, id, from, holder)| {
                Box::pin(events::page(db, tenant, id, *from, holder))
            })
            .await
    }

    async fn cancel(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool> {
        let (shared, given) = (self.shared.clone(), (tenant.clone(), id.clone()));
        self.call(async move {
            let work = shared.write(Effect::Synced, Lock::Nothing, &given, |db, (tenant, id)| {
                Box::pin(jobs::cancel(db, tenant, id))
            });
            work.await
        })
        .await
    }

    async fn cancelled_jobs(&self) -> Result<Vec<(Tenant, ResponseId)>> {
        self.check_open()?;
        self.shared
            .run(&self.shared.holder, |db, holder| Box::pin(jobs::cancelled_jobs(db, holder)))
            .await
    }

    async fn set_cursor(&self, tenant: &Tenant, id: &ResponseId, cursor: Cursor) -> Result<()> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), id.clone(), cursor, self.holder());
        self.call(async move {
            let tree = Lock::Tree(&given.0, cursor.shard);
            let work = shared.write(Effect::Unsynced, tree, &given, |db, given| {
                let (tenant, id, cursor, holder) = given;
                Box::pin(jobs::set_cursor(db, tenant, id, *cursor, holder))
            });
            work.await
        })
        .await
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
        let (shared, given) = (self.shared.clone(), self.holder());
        self.call(async move {
            let work = shared.write(Effect::Unsynced, Lock::Nothing, &given, |db, holder| {
                Box::pin(jobs::claim_next(db, holder))
            });
            work.await
        })
        .await
    }

    async fn expire(&self, now: i64) -> Result<bool> {
        let shared = self.shared.clone();
        self.call(async move {
            let work = shared.write(Effect::Unsynced, Lock::Nothing, &now, |db, now| {
                Box::pin(jobs::expire(db, *now))
            });
            work.await
        })
        .await
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

impl PostgresStore {
    fn holder(&self) -> String {
        self.shared.holder.clone()
    }
}
