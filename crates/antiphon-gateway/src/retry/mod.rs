//! The delays between the attempts at one operation.

mod headers;

use std::future::Future;
use std::time::Duration;

use antiphon_store::StoreError;
use tokio::time::{Instant, sleep};

pub(crate) use self::headers::{format_duration, retry_after, retry_headers};
use crate::settings::Retries;

/// When a failed operation is attempted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RetryPolicy {
    delays: Delays,
    /// The maximum number of retries.
    max_retries: u32,
    jitter: Jitter,
    requested: RequestedDelay,
}

/// The planned delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delays {
    /// The first delay, which doubles with each retry up to the longest.
    Doubling { first: Duration, longest: Duration },
    /// One delay in seconds for each retry.
    Listed(&'static [u64]),
}

/// The random change of a delay, so that operations that failed together are not retried together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Jitter {
    None,
    /// Up to a quarter is subtracted.
    Shorter,
    /// Up to a tenth is added.
    Longer,
}

/// The use of a delay that the other side requests (`Retry-After`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestedDelay {
    /// A longer delay ends the retries.
    AtMost(Duration),
    /// A longer delay is shortened. After `shorter` retries, the delay is not shorter than planned:
    /// a server that always requests one second would otherwise use up all attempts in an outage.
    Clamped { longest: Duration, shorter: u32 },
}

const HOUR: u64 = 60 * 60;

impl RetryPolicy {
    /// The commit of a turn. A deadline ends the retries.
    pub(crate) const COMMIT: Self =
        Self::doubling(Duration::from_millis(10), Duration::from_secs(1));

    /// Work that only this process does while it lives. The attempts last for a day, because a disk
    /// may be full for a long time.
    pub(crate) const BACKGROUND: Self = Self {
        max_retries: 24 * 60 + 12,
        ..Self::doubling(Duration::from_millis(10), Duration::from_mins(1))
    };

    /// A conversation that the upstream has locked, as in the official clients: 1, 2, 4 seconds. A
    /// deadline ends the retries. The longest delay bounds the time that an unlocked conversation
    /// stays idle.
    pub(crate) const LOCKED: Self = Self::doubling(Duration::from_secs(1), Duration::from_secs(4));

    /// The delivery of a webhook. Source: the example of Standard Webhooks, about three days.
    pub(crate) const WEBHOOK: Self = Self {
        delays: Delays::Listed(&[
            5,
            5 * 60,
            30 * 60,
            2 * HOUR,
            5 * HOUR,
            10 * HOUR,
            14 * HOUR,
            20 * HOUR,
            24 * HOUR,
        ]),
        max_retries: 9,
        jitter: Jitter::Longer,
        requested: RequestedDelay::Clamped { longest: Duration::from_hours(24), shorter: 3 },
    };

    pub(crate) const fn doubling(first: Duration, longest: Duration) -> Self {
        Self {
            delays: Delays::Doubling { first, longest },
            max_retries: u32::MAX,
            jitter: Jitter::None,
            requested: RequestedDelay::AtMost(longest),
        }
    }

    /// The delay before retry number `retry`, from 0. `None` if there is no retry.
    ///
    /// `requested` is the delay that the other side requests, and `random` selects the jitter.
    pub(crate) fn delay(
        &self,
        retry: u32,
        requested: Option<Duration>,
        random: u8,
    ) -> Option<Duration> {
        let planned = self.delays.delay(retry).filter(|_| retry < self.max_retries)?;
        match (self.requested, requested) {
            (_, None) => Some(self.jitter.apply(planned, random)),
            (RequestedDelay::AtMost(longest), Some(delay)) => (delay <= longest).then_some(delay),
            (RequestedDelay::Clamped { longest, shorter }, Some(delay)) => {
                let least = if retry < shorter { Duration::ZERO } else { planned };
                Some(delay.clamp(least, longest))
            }
        }
    }
}

/// Requests to an upstream.
impl From<&Retries> for RetryPolicy {
    fn from(retries: &Retries) -> Self {
        Self {
            delays: Delays::Doubling { first: retries.first_delay, longest: retries.max_delay },
            max_retries: retries.max,
            jitter: Jitter::Shorter,
            requested: RequestedDelay::AtMost(retries.max_requested_delay),
        }
    }
}

/// Retries a store operation until it succeeds or the attempts of a day are used up. `task` is the
/// operation in the log line of a failed attempt: "could not …".
pub(crate) async fn retry_in_background<F>(task: &str, mut attempt: impl FnMut() -> F)
where
    F: Future<Output = Result<(), StoreError>>,
{
    for retry in 0.. {
        let Err(error) = attempt().await else { return };
        let Some(delay) = RetryPolicy::BACKGROUND.delay(retry, None, 0) else {
            tracing::error!(%error, "could not {task}; giving up");
            return;
        };
        tracing::warn!(%error, ?delay, "could not {task}; trying again");
        sleep(delay).await;
    }
}

/// The delays of a policy until a deadline. The last one is cut to the remaining time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelaysUntil {
    pub(crate) end: Instant,
    policy: RetryPolicy,
    retry: u32,
}

impl DelaysUntil {
    pub(crate) fn new(end: Instant, policy: RetryPolicy) -> Self {
        Self { end, policy, retry: 0 }
    }

    /// The delay before the next retry, at `now`. `None` if no time is left.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Duration> {
        let left = self.end.saturating_duration_since(now);
        let delay = self.policy.delay(self.retry, None, 0)?.min(left);
        self.retry = self.retry.saturating_add(1);
        (!delay.is_zero()).then_some(delay)
    }
}

impl Delays {
    fn delay(&self, retry: u32) -> Option<Duration> {
        match self {
            Self::Doubling { first, longest } => {
                Some(first.saturating_mul(2_u32.saturating_pow(retry)).min(*longest))
            }
            Self::Listed(seconds) => {
                seconds.get(usize::try_from(retry).ok()?).copied().map(Duration::from_secs)
            }
        }
    }
}

impl Jitter {
    fn apply(self, delay: Duration, random: u8) -> Duration {
        let random = u32::from(random);
        match self {
            Self::None => delay,
            Self::Shorter => delay.saturating_sub(delay / 4 * random / 255),
            Self::Longer => delay + delay * random / 2560,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(policy: &RetryPolicy, requested: Option<Duration>) -> Vec<Duration> {
        (0..).map_while(|retry| policy.delay(retry, requested, 0)).collect()
    }

    fn upstream() -> RetryPolicy {
        RetryPolicy::from(&Retries { max: u32::MAX, ..Retries::default() })
    }

    #[test]
    fn delays_double_up_to_a_bound() {
        let delays = (0..7).map(|retry| upstream().delay(retry, None, 0).unwrap().as_millis());
        assert_eq!(delays.collect::<Vec<_>>(), [500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }

    #[test]
    fn jitter_subtracts_at_most_a_quarter() {
        assert_eq!(upstream().delay(0, None, 255), Some(Duration::from_millis(375)));
        assert_eq!(upstream().delay(u32::MAX - 1, None, 255), Some(Duration::from_secs(6)));
    }

    #[test]
    fn retries_are_limited_by_the_setting() {
        assert_eq!(delays(&RetryPolicy::from(&Retries::default()), None).len(), 2);
        assert!(delays(&RetryPolicy::from(&Retries::none()), None).is_empty());
    }

    #[test]
    fn longer_requested_delay_ends_the_retries() {
        let requested = |seconds| upstream().delay(0, Some(Duration::from_secs(seconds)), 255);
        assert_eq!(requested(20), Some(Duration::from_secs(20)));
        assert_eq!(requested(21), None);
    }

    #[test]
    fn background_work_is_attempted_for_a_day() {
        let delays = delays(&RetryPolicy::BACKGROUND, None);
        assert!(delays.iter().take(5).sum::<Duration>() < Duration::from_secs(1));
        assert_eq!(delays.iter().max(), Some(&Duration::from_mins(1)));
        assert_eq!(delays.iter().sum::<Duration>().as_secs() / HOUR, 24);
    }

    #[test]
    fn webhook_has_ten_attempts_over_three_days() {
        let delays = delays(&RetryPolicy::WEBHOOK, None);
        assert_eq!(delays.len(), 9);
        assert_eq!(delays.iter().sum::<Duration>().as_secs() / HOUR, 75);
        assert_eq!(RetryPolicy::WEBHOOK.delay(9, Some(Duration::from_secs(1)), 0), None);
    }

    #[test]
    fn endpoint_requests_a_delay_within_bounds() {
        let requested =
            |seconds| RetryPolicy::WEBHOOK.delay(0, Some(Duration::from_secs(seconds)), 255);
        assert_eq!(requested(0), Some(Duration::ZERO));
        assert_eq!(requested(90), Some(Duration::from_secs(90)));
        assert_eq!(requested(u64::MAX), Some(Duration::from_hours(24)));
    }

    #[test]
    fn endpoint_cannot_use_up_the_attempts() {
        let soon = Some(Duration::from_secs(1));
        let delays = delays(&RetryPolicy::WEBHOOK, soon);
        assert_eq!(delays.iter().sum::<Duration>().as_secs() / HOUR, 75);
    }

    #[test]
    fn simultaneous_webhook_failures_are_spread() {
        let [none, most] =
            [0, 255].map(|random| RetryPolicy::WEBHOOK.delay(1, None, random).unwrap());
        assert_eq!(none, Duration::from_mins(5));
        assert!(most > none && most <= Duration::from_secs(330), "{most:?}");
    }

    #[tokio::test]
    async fn background_retries_stop_after_success() {
        let mut answers = [true, true, false].into_iter();
        retry_in_background("finish the test", || {
            let fails = answers.next().expect("nothing is left to be done");
            async move { if fails { Err(StoreError::LeaseLost) } else { Ok(()) } }
        })
        .await;
        assert_eq!(answers.next(), None);
    }
}
