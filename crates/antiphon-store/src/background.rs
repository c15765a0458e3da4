//! Background responses: turns that run without a waiting client.

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::StoreError;
use crate::ids::{ResponseId, Shard, Tenant};
use crate::records::{Cursor, RequestDigest, TurnRecord};

type Result<T> = std::result::Result<T, StoreError>;

/// The maximum number of events on a page.
pub(crate) const PAGE_EVENTS: usize = 256;
/// The maximum number of bytes of events on a page, unless a single event has more.
pub(crate) const PAGE_BYTES: usize = 256 << 10;
/// The maximum number of expired events that one call deletes.
pub(crate) const EXPIRED_AT_ONCE: i64 = 256;

/// Stores the jobs of background responses: the data to restart each job, and the log of its
/// events.
///
/// ```text
///   accept ──> Open, of a process ── end ──> Ended ── expire, or its response deleted ──> gone
///                   │       ↑
///     release, death│       │claim_next
///                   ↓       │
///              Open, without a process
/// ```
///
/// A process can append to and end only its own jobs. If another process has claimed a job, the
/// former process's writes to it fail with [`StoreError::LeaseLost`]. Each call is atomic. The
/// writes of `accept`, `cancel` and `end` survive a power cut; other writes survive a crash of the
/// process.
#[async_trait]
pub trait BackgroundJobs: Send + Sync {
    /// Accepts a job for this process, with the first events of its log.
    async fn accept(&self, tenant: &Tenant, job: NewJob) -> Result<()>;

    /// The state of a job. `None` if there is none: the response never was in the background, or
    /// its log has expired.
    async fn status(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<JobStatus>>;

    /// The open jobs in `shard` that answer this request, newest first, at most two.
    async fn open_jobs(
        &self,
        tenant: &Tenant,
        shard: Shard,
        request: &RequestDigest,
    ) -> Result<Vec<ResponseId>>;

    /// Appends events to the log of an open job of this process. Skips events whose numbers are
    /// already in the log.
    async fn append(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
        events: Vec<LoggedEvent>,
    ) -> Result<()>;

    /// A page of a job's log, starting at this sequence number. `None` if there is no job.
    async fn events(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
        from: u64,
    ) -> Result<Option<EventPage>>;

    /// Marks an open job as cancelled. Returns whether it exists. The process that owns the job
    /// must end it.
    async fn cancel(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool>;

    /// The open jobs of this process that any process has marked as cancelled.
    async fn cancelled_jobs(&self) -> Result<Vec<(Tenant, ResponseId)>>;

    /// Records the cursor that an open job of this process continues from. Items before the cursor
    /// stay stored until the job ends, even if their response or conversation is deleted or expires
    /// meanwhile.
    async fn set_cursor(&self, tenant: &Tenant, id: &ResponseId, cursor: Cursor) -> Result<()>;

    /// Commits the turn of an open job of this process, and appends the last event to its log. The
    /// log is stored until `expires_at` (Unix seconds).
    async fn end(
        &self,
        tenant: &Tenant,
        turn: TurnRecord,
        last: LoggedEvent,
        expires_at: i64,
    ) -> Result<()>;

    /// Releases an open job of this process, so that any process can claim it.
    async fn release(&self, tenant: &Tenant, id: &ResponseId) -> Result<()>;

    /// Claims the oldest released or orphaned job, of any tenant. It then belongs to this process.
    /// If several processes call this at once, one of them gets the job.
    async fn claim_next(&self) -> Result<Option<ClaimedJob>>;

    /// Deletes some of the logs that have expired at `now`. Returns whether more remain.
    async fn expire(&self, now: i64) -> Result<bool>;
}

/// A new background response.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// The response's id.
    pub id: ResponseId,
    /// The request that it answers.
    pub request: RequestDigest,
    /// The data to restart it. Stored while the job is open.
    pub work: Bytes,
    /// The first events of its log, from number 0.
    pub events: Vec<LoggedEvent>,
}

/// An open job that was claimed: its former process released it or died.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedJob {
    /// The tenant that owns it.
    pub tenant: Tenant,
    /// The response's id.
    pub id: ResponseId,
    /// The request that it answers.
    pub request: RequestDigest,
    /// The data to restart it.
    pub work: Bytes,
    /// The number of events in its log.
    pub event_count: u64,
    /// The number of times it was claimed, this time included.
    pub attempt: u32,
    /// Whether it is marked as cancelled.
    pub is_cancelled: bool,
}

/// One event of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    /// Its `sequence_number`.
    pub sequence_number: u64,
    /// The event as JSON, in one line.
    pub body: Bytes,
}

/// The state of a job, for a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobStatus {
    /// It has not ended.
    Open {
        /// The latest of the first three events of its log. Each of them carries the response
        /// object.
        event: Bytes,
        /// Whether it waits for a process to claim it.
        is_unclaimed: bool,
    },
    /// It has ended. The record of its response has the result.
    Ended,
}

/// A part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<LoggedEvent>,
    /// The state of the log after these events.
    pub state: LogState,
}

/// The state of a log after the last event of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogState {
    /// More events follow, now or later: a process works on the job.
    Open,
    /// No event follows yet: the job waits for a process to claim it.
    Unclaimed,
    /// No event follows: the response has ended.
    Ended,
}

impl LogState {
    /// Derives the state from the columns of a job.
    pub(crate) fn from_columns(is_open: bool, is_unclaimed: bool) -> Self {
        match (is_open, is_unclaimed) {
            (false, _) => Self::Ended,
            (true, true) => Self::Unclaimed,
            (true, false) => Self::Open,
        }
    }
}
