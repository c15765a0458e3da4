//! Background responses: turns for whose end nobody waits.

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::StoreError;
use crate::ids::{ResponseId, Shard, Tenant};
use crate::records::{Cursor, RequestDigest, Turn};

type Result<T> = std::result::Result<T, StoreError>;

/// How many events a page holds at the most.
pub(crate) const PAGE_EVENTS: usize = 256;
/// How many bytes of events a page holds, one longer event aside.
pub(crate) const PAGE_BYTES: usize = 256 << 10;
/// How many expired events are deleted at once.
pub(crate) const EXPIRED_AT_ONCE: i64 = 256;

/// Keeps the jobs of background responses: what begins each of them anew, and the log of its events.
///
/// ```text
///   accept ──> Open, of a process ── end ──> Ended ── expire, or its response deleted ──> gone
///                   │       ↑
///     release, death│       │take_up
///                   ↓       │
///              Open, left behind
/// ```
///
/// A process appends to, and ends, only jobs that are its own: what it does after another took them
/// up is refused with [`StoreError::LeaseLost`]. Each call is atomic. What `accept`, `cancel` and
/// `end` wrote survives a power cut, what the others wrote survives the process.
#[async_trait]
pub trait Background: Send + Sync {
    /// Takes on a job of this process, with the first events of its log.
    async fn accept(&self, tenant: &Tenant, job: NewJob) -> Result<()>;

    /// How a job stands. `None` where there is none: the response never was in the background, or
    /// its log has expired.
    async fn standing(&self, tenant: &Tenant, id: &ResponseId) -> Result<Option<Standing>>;

    /// The open jobs in `shard` that answer this request, the newest first; two at the most.
    async fn open_jobs(
        &self,
        tenant: &Tenant,
        shard: Shard,
        request: &RequestDigest,
    ) -> Result<Vec<ResponseId>>;

    /// Adds events to the log of an open job of this process. One whose number is in the log already
    /// is passed over.
    async fn append(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
        events: Vec<LoggedEvent>,
    ) -> Result<()>;

    /// A page of a job's log, from this sequence number on. `None` where there is no job.
    async fn events(
        &self,
        tenant: &Tenant,
        id: &ResponseId,
        from: u64,
    ) -> Result<Option<EventPage>>;

    /// Marks an open job as cancelled; says whether there is one. Its process is to end it.
    async fn cancel(&self, tenant: &Tenant, id: &ResponseId) -> Result<bool>;

    /// The open jobs of this process that are marked as cancelled, by whichever process.
    async fn cancelled(&self) -> Result<Vec<(Tenant, ResponseId)>>;

    /// Notes where an open job of this process goes on from. What is before that is kept until it has
    /// ended, whatever is deleted or expires meanwhile.
    async fn reach(&self, tenant: &Tenant, id: &ResponseId, cursor: Cursor) -> Result<()>;

    /// Commits the turn that an open job of this process came to, and adds the last event to its log,
    /// which is kept until `expires_at` (Unix seconds).
    async fn end(
        &self,
        tenant: &Tenant,
        turn: Turn,
        last: LoggedEvent,
        expires_at: i64,
    ) -> Result<()>;

    /// Leaves an open job of this process behind, to be taken up again.
    async fn release(&self, tenant: &Tenant, id: &ResponseId) -> Result<()>;

    /// Takes up the oldest open job that was left behind: of whichever tenant, it is this process's
    /// from now on. Of several processes that do so at once, one gets it.
    async fn take_up(&self) -> Result<Option<LeftJob>>;

    /// Deletes some of what has expired at `now`; says whether there is more.
    async fn expire(&self, now: i64) -> Result<bool>;
}

/// A background response that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// The response's id.
    pub id: ResponseId,
    /// The request that it answers.
    pub request: RequestDigest,
    /// What it takes to begin it anew. It is kept as long as the job is open.
    pub work: Bytes,
    /// The events that it begins by, from number 0.
    pub events: Vec<LoggedEvent>,
}

/// A job that its process left behind.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftJob {
    /// Whose it is.
    pub tenant: Tenant,
    /// The response's id.
    pub id: ResponseId,
    /// The request that it answers.
    pub request: RequestDigest,
    /// What it takes to begin it anew.
    pub work: Bytes,
    /// How many events are in its log.
    pub told: u64,
    /// How often it was taken up, this time included.
    pub times: u32,
    /// Whether it was marked as cancelled.
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

/// How a job stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has not ended.
    Open {
        /// The latest of the first three events of its log, each of which carries the response.
        event: Bytes,
        /// Whether it waits to be taken up.
        is_left: bool,
    },
    /// It has ended: its response's record says how.
    Ended,
}

/// A part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<LoggedEvent>,
    /// What stands behind them.
    pub rest: Rest,
}

/// What stands behind a page of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// More may, at once or later.
    More,
    /// Nothing yet: the job was left behind, and waits to be taken up.
    Left,
    /// Nothing: the response has ended.
    Nothing,
}

/// Who works on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobState {
    /// A process.
    WorkedOn,
    /// Nobody: it waits to be taken up.
    Left,
    /// Nobody any more: it has ended.
    Ended,
}

impl JobState {
    /// The state that a row's columns tell of.
    pub(crate) fn of(is_open: bool, is_left: bool) -> Self {
        match (is_open, is_left) {
            (false, _) => Self::Ended,
            (true, true) => Self::Left,
            (true, false) => Self::WorkedOn,
        }
    }

    /// What stands behind the last event of a log.
    pub(crate) fn rest(self) -> Rest {
        match self {
            Self::WorkedOn => Rest::More,
            Self::Left => Rest::Left,
            Self::Ended => Rest::Nothing,
        }
    }
}
