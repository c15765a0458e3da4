//! Implements [`Background`] for [`PostgresStore`].

use async_trait::async_trait;

use super::shared::Shared;
use super::transaction::{Effect, Lock};
use super::{PostgresStore, events, jobs, names};
use crate::background::{Background, EventPage, JobStanding, LeftJob, LoggedEvent, NewJob};
use crate::error::StoreError;
use crate::ids::{ResponseId, Shard, Tenant};
use crate::records::{Cursor, RequestDigest, Turn};

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Background for PostgresStore {
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

    async fn standing(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<JobStanding>> {
        self.check_open()?;
        self.shared
            .run(&(tenant, id, self.holder()), |db, (tenant, id, holder)| {
                Box::pin(jobs::standing(db, tenant, id, holder))
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

    async fn cancelled(&self) -> Result<Vec<(Tenant, ResponseId)>> {
        self.check_open()?;
        self.shared
            .run(&self.shared.holder, |db, holder| Box::pin(jobs::cancelled(db, holder)))
            .await
    }

    async fn reach(&self, tenant: &Tenant, id: &ResponseId, cursor: Cursor) -> Result<()> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), id.clone(), cursor, self.holder());
        self.call(async move {
            let tree = Lock::Tree(&given.0, cursor.shard);
            let work = shared.write(Effect::Unsynced, tree, &given, |db, given| {
                let (tenant, id, cursor, holder) = given;
                Box::pin(jobs::reach(db, tenant, id, *cursor, holder))
            });
            work.await
        })
        .await
    }

    async fn end(
        &self,
        tenant: &Tenant,
        turn: Turn,
        last: LoggedEvent,
        expires_at: i64,
    ) -> Result<()> {
        let shared = self.shared.clone();
        let given = (tenant.clone(), turn, (last, expires_at), self.holder());
        self.call(async move {
            let tree = Lock::Tree(&given.0, given.1.base.shard());
            let work = shared.write(Effect::Synced, tree, &given, |db, given| {
                let (tenant, turn, (last, expires_at), holder) = given;
                Box::pin(jobs::end(db, tenant, turn, (last, *expires_at), holder))
            });
            let ended = work.await;
            if ended == Err(StoreError::Erased) {
                forget_erased(&shared, &given.0, &given.1).await?;
            }
            names::delete_outlived(&shared, &given.0, ended?).await;
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

    async fn take_up(&self) -> Result<Option<LeftJob>> {
        let (shared, given) = (self.shared.clone(), self.holder());
        self.call(async move {
            let work = shared.write(Effect::Unsynced, Lock::Nothing, &given, |db, holder| {
                Box::pin(jobs::take_up(db, holder))
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
async fn forget_erased(shared: &Shared, tenant: &Tenant, turn: &Turn) -> Result<()> {
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
