//! The rate limit per tenant.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use antiphon_store::Tenant;
use governor::clock::{Clock, DefaultClock, Reference};

use governor::middleware::{StateInformationMiddleware, StateSnapshot};
use governor::state::keyed::HashMapStateStore;
use governor::{NotUntil, Quota, RateLimiter};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::ApiError;
use crate::retry::format_duration;
use crate::settings::Rate;

/// A leaky bucket for each recently active tenant.
pub(super) struct TenantRates<C: Clock = DefaultClock> {
    buckets: RateLimiter<Tenant, HashMapStateStore<Tenant>, C, StateInformationMiddleware>,
    clock: C,
    taken: AtomicU32,
}

/// Full buckets are removed once per this number of requests. In between, at most this number of
/// buckets are added.
const FORGET_EVERY: u32 = 1024;

/// The remaining allowance of a tenant after one counted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// The maximum burst of requests.
    limit: u32,
    /// The number of requests that may come now.
    remaining: u32,
    /// The time until the full burst is available again.
    reset: Duration,
    /// The required wait, if this request came too early.
    refused_for: Option<Duration>,
}

impl TenantRates {
    pub(super) fn new(rate: Rate) -> Self {
        Self::with_clock(rate, DefaultClock::default())
    }
}

impl<C: Clock + Clone> TenantRates<C> {
    fn with_clock(rate: Rate, clock: C) -> Self {
        let quota = Quota::per_second(rate.per_second).allow_burst(rate.burst);
        let store = HashMapStateStore::<Tenant>::default();
        let buckets = RateLimiter::new(quota, store, clock.clone());
        Self { buckets, clock, taken: AtomicU32::new(0) }
    }

    /// Counts a request of a tenant.
    pub(super) fn take(&self, tenant: &Tenant) -> Allowance {
        if self.taken.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1 {
            self.buckets.retain_recent();
            self.buckets.shrink_to_fit();
        }
        match self.buckets.check_key(tenant) {
            Ok(state) => Allowance::from_state(&state),
            Err(early) => Allowance::from_rejection(&early, self.clock.now()),
        }
    }
}

impl Allowance {
    fn from_state(state: &StateSnapshot) -> Self {
        let (quota, remaining) = (state.quota(), state.remaining_burst_capacity());
        let limit = quota.burst_size().get();
        let reset = quota.replenish_interval() * limit.saturating_sub(remaining);
        Self { limit, remaining, reset, refused_for: None }
    }

    fn from_rejection<P: Reference>(early: &NotUntil<P>, now: P) -> Self {
        let quota = early.quota();
        let wait = early.wait_time_from(now);
        let limit = quota.burst_size().get();
        let reset = wait + quota.replenish_interval() * (limit - 1);
        Self { limit, remaining: 0, reset, refused_for: Some(wait) }
    }

    /// The error for a request that came too early.
    pub(crate) fn refusal(self) -> Option<ApiError> {
        Some(ApiError::RateLimited { burst: self.limit, wait: self.refused_for? })
    }

    /// Writes the provider's rate limit headers. They replace those of an upstream.
    pub(crate) fn write_headers(self, headers: &mut HeaderMap) {
        let reset = HeaderValue::try_from(format_duration(self.reset)).expect("digits and units");
        let values = [
            ("x-ratelimit-limit-requests", self.limit.into()),
            ("x-ratelimit-remaining-requests", self.remaining.into()),
            ("x-ratelimit-reset-requests", reset),
        ];
        for (name, value) in values {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use governor::clock::FakeRelativeClock;

    use super::*;

    fn rates(per_second: u32, burst: u32) -> (TenantRates<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        let number = |count| NonZeroU32::new(count).unwrap();
        let rate = Rate { per_second: number(per_second), burst: number(burst) };
        (TenantRates::with_clock(rate, clock.clone()), clock)
    }

    #[test]
    fn burst_is_admitted_and_then_the_rate() {
        let (rates, clock) = rates(2, 3);
        let acme = Tenant::new("acme");
        let remaining: Vec<u32> = (0..3).map(|_| rates.take(&acme).remaining).collect();
        assert_eq!(remaining, [2, 1, 0]);

        let refused = rates.take(&acme);
        assert_eq!(refused.refused_for, Some(Duration::from_millis(500)));
        assert_eq!(refused.reset, Duration::from_millis(1500));
        assert!(rates.take(&Tenant::new("globex")).refusal().is_none());

        clock.advance(Duration::from_millis(500));
        assert!(rates.take(&acme).refusal().is_none());
        assert!(rates.take(&acme).refusal().is_some());
    }

    #[test]
    fn idle_tenants_are_forgotten() {
        let (rates, clock) = rates(1, 1);
        for number in 1..FORGET_EVERY {
            rates.take(&Tenant::new(number.to_string()));
        }
        assert_eq!(rates.buckets.len(), 1023);
        clock.advance(Duration::from_secs(2));
        rates.take(&Tenant::new("one more"));
        assert_eq!(rates.buckets.len(), 1);
    }
}
