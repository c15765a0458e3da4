//! Rate limits, concurrency limits, item limits and quotas.

mod items;
mod permits;
mod quota;
mod rate;

use antiphon_store::Tenant;

pub(crate) use self::items::{check_item, check_items};
pub(crate) use self::permits::TurnPermit;
use self::permits::TurnPermits;
pub(crate) use self::quota::Quotas;
pub(crate) use self::rate::Allowance;
use self::rate::Rates;
use crate::error::ApiError;
use crate::settings::Limits;

/// The counters of this process for the limits.
pub(crate) struct Limiter {
    rates: Option<Rates>,
    permits: TurnPermits,
}

impl Limiter {
    /// Creates the counters for these limits.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            rates: limits.rate.map(Rates::new),
            permits: TurnPermits::new(limits.max_open_turns),
        }
    }

    /// Counts a request of a tenant. `None` if there is no rate limit.
    pub(crate) fn request(&self, tenant: &Tenant) -> Option<Allowance> {
        self.rates.as_ref().map(|rates| rates.take(tenant))
    }

    /// Reserves one open turn until the permit is dropped.
    pub(crate) fn permit_turn(&self, tenant: &Tenant) -> Result<TurnPermit, ApiError> {
        self.permits.grant(tenant)
    }
}
