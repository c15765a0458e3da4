//! Responses that a provider makes in its own background, and whose end is awaited.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::records::{DueNotice, Notice};

type Result<T> = std::result::Result<T, StoreError>;

/// Keeps the watches of responses that a provider makes in its background.
///
/// A watch is a [`Notice`] whose endpoint is [`WATCH`](crate::WATCH). It is committed with its turn, and its `id`
/// is the provider's id of the response. It is claimed as other notices are
/// ([`Store::claim_notices`](crate::Store::claim_notices)), but only here. Erasing a tenant removes
/// its watches.
///
/// ```text
///   commit of the turn ──> waiting ── claim ──> claimed ── end ──> gone; notices of the end kept
///                             ↑                    │
///                             └─ put_off, or the claim runs out
/// ```
#[async_trait]
pub trait Watches: Send + Sync {
    /// Claims watches that are due at `now` until `until`, both in Unix seconds: those that are due
    /// for the longest first, at most `limit`. Of several processes that do so at once, one claims
    /// each. A watch that is neither put off nor ended until then is due again.
    async fn claim(&self, now: i64, until: i64, limit: usize) -> Result<Vec<DueNotice>>;

    /// When the next watch is due, in Unix seconds. `None` if there is no watch.
    async fn next_due(&self) -> Result<Option<i64>>;

    /// Puts a claimed watch off until this time, in Unix seconds. Nothing happens if the claim has
    /// run out and another process has it.
    async fn put_off(&self, claimed: &DueNotice, until: i64) -> Result<()>;

    /// Ends a claimed watch and keeps the notices of its response's end, as one. Returns whether it
    /// did: `false` if the claim has run out and another process has it, or if the watch is gone.
    /// Attempt 0 claims a watch that nobody has claimed.
    async fn end(&self, claimed: &DueNotice, notices: Vec<Notice>) -> Result<bool>;
}
