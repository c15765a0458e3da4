//! Waits for a conversation that the server has locked.

use std::time::Duration;

use tokio::time::Instant;

use crate::entropy::from_now;
use crate::retry::{DelaysUntil, RetryPolicy};

/// The retry schedule for a conversation that the upstream has locked.
///
/// The gateway queues its own turns of a conversation. This wait covers the requests that other
/// clients send to the same server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockWait(DelaysUntil);

impl LockWait {
    /// Retries for the time `left`, which is the rest of the time that a turn may wait for its
    /// conversation.
    pub(crate) fn within(left: Duration) -> Self {
        Self(DelaysUntil::new(from_now(left), RetryPolicy::LOCKED))
    }

    /// Waits until the next retry. Returns `false` at once if no time is left.
    pub(crate) async fn wait(&mut self) -> bool {
        let Some(delay) = self.0.next(Instant::now()) else { return false };
        let wait_ms = delay.as_millis();
        tracing::info!(wait_ms, "the upstream has locked the conversation; retrying");
        tokio::time::sleep(delay).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits in milliseconds of a request that finds its conversation locked each time.
    fn waits(left: Duration) -> Vec<u128> {
        let LockWait(mut lock) = LockWait::within(left);
        let mut now = lock.end - left;
        let next = || {
            let delay = lock.next(now)?;
            now += delay;
            Some(delay.as_millis())
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn delays_double_until_the_deadline() {
        assert_eq!(waits(Duration::from_secs(7)), [1000, 2000, 4000]);
        assert_eq!(waits(Duration::from_secs(13)), [1000, 2000, 4000, 4000, 2000]);
        assert_eq!(waits(Duration::from_millis(2500)), [1000, 1500]);
        assert_eq!(waits(Duration::from_millis(300)), [300]);
        assert!(waits(Duration::ZERO).is_empty());
    }

    #[test]
    fn request_time_counts_towards_the_deadline() {
        let LockWait(mut lock) = LockWait::within(Duration::from_secs(10));
        let begun = lock.end - Duration::from_secs(10);
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert_eq!(lock.next(at(0)), Some(Duration::from_secs(1)));
        assert_eq!(lock.next(at(9)), Some(Duration::from_secs(1)));
        assert_eq!(lock.next(at(10)), None);
        assert_eq!(lock.next(at(11)), None);
    }

    #[tokio::test]
    async fn lock_wait_ends_without_remaining_time() {
        let short = RetryPolicy::doubling(Duration::from_millis(1), Duration::from_millis(1));
        let mut lock = LockWait(DelaysUntil::new(from_now(Duration::from_hours(1)), short));
        assert!(lock.wait().await);
        assert!(!LockWait::within(Duration::ZERO).wait().await);
    }
}
