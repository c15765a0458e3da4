//! Watches: responses that run in a provider's own background, and whose end is awaited.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::records::{ClaimedNotice, Notice};

type Result<T> = std::result::Result<T, StoreError>;

/// Stores the watches of responses that run in a provider's background.
///
/// A watch is a [`Notice`] whose endpoint is [`WATCH_ENDPOINT`](crate::WATCH_ENDPOINT). It is
/// committed with its turn, and its `id` is the provider's id of the response. [`Watches::claim`]
/// claims it in the way in which [`Store::claim_notices`](crate::Store::claim_notices) claims other
/// notices. Erasing a tenant removes its watches. The writes of `end` survive a power cut; those of
/// `claim` and `put_off` survive a crash of the process.
///
/// ```text
///   commit of the turn ──> waiting ── claim ──> claimed ── end ──> gone; notices of the end stored
///                             ↑                    │
///                             └─ put_off, or the claim runs out
/// ```
#[async_trait]
pub trait Watches: Send + Sync {
    /// Claims the watches that are due at `now`, and holds the claims until `until`, both in Unix
    /// seconds: the longest due first, at most `limit`. If several processes claim at once, each
    /// watch goes to one of them. A watch that is neither put off nor ended before `until` is due
    /// again.
    async fn claim(&self, now: i64, until: i64, limit: usize) -> Result<Vec<ClaimedNotice>>;

    /// The time at which the next watch is due, in Unix seconds. `None` if there is no watch.
    async fn next_due(&self) -> Result<Option<i64>>;

    /// Puts a claimed watch off until this time, in Unix seconds. Has no effect if the claim has
    /// expired and the watch was claimed again.
    async fn put_off(&self, claimed: &ClaimedNotice, until: i64) -> Result<()>;

    /// Ends a claimed watch and stores the notices of its response's end, atomically. Returns
    /// `false` if the claim has expired and the watch was claimed again, or if the watch is gone.
    /// If the `attempt` of `claimed` is 0, ends a watch that nobody has claimed yet.
    async fn end(&self, claimed: &ClaimedNotice, notices: Vec<Notice>) -> Result<bool>;
}
