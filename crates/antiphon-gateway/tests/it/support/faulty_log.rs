//! Logs of events that can be made to fail as no store's can be made from outside.

use antiphon_store::{
    BackgroundJobs, ClaimedJob, Cursor, EventPage, JobStatus, LoggedEvent, NewJob, RequestDigest,
    ResponseId, Shard, StoreError, Tenant, TurnRecord,
};
use async_trait::async_trait;

use super::Faulty;

type Result<T> = std::result::Result<T, StoreError>;

macro_rules! passing_on {
    ($(fn $call:ident($($given:ident: $type:ty),*) -> $answer:ty;)* { $($own:tt)* }) => {
        #[async_trait]
        impl BackgroundJobs for Faulty {
            $(
                async fn $call(&self, $($given: $type),*) -> $answer {
                    self.inner.$call($($given),*).await
                }
            )*
            $($own)*
        }
    };
}

passing_on! {
    fn accept(tenant: &Tenant, job: NewJob) -> Result<()>;
    fn status(tenant: &Tenant, id: &ResponseId) -> Result<Option<JobStatus>>;
    fn open_jobs(
        tenant: &Tenant, shard: Shard, request: &RequestDigest
    ) -> Result<Vec<ResponseId>>;
    fn events(tenant: &Tenant, id: &ResponseId, from: u64) -> Result<Option<EventPage>>;
    fn cancel(tenant: &Tenant, id: &ResponseId) -> Result<bool>;
    fn cancelled_jobs() -> Result<Vec<(Tenant, ResponseId)>>;
    fn set_cursor(tenant: &Tenant, id: &ResponseId, cursor: Cursor) -> Result<()>;
    fn end(
        tenant: &Tenant, turn: TurnRecord, last: LoggedEvent, expires_at: i64
    ) -> Result<()>;
    fn release(tenant: &Tenant, id: &ResponseId) -> Result<()>;
    fn claim_next() -> Result<Option<ClaimedJob>>;
    fn expire(now: i64) -> Result<bool>;
    {
        async fn append(
            &self, tenant: &Tenant, id: &ResponseId, events: Vec<LoggedEvent>
        ) -> Result<()> {
            let _permit = self.recording.acquire().await.expect("it is never closed");
            self.inner.append(tenant, id, events).await
        }
    }
}
