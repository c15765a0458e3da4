//! Rate limits, concurrency limits, item limits and quotas.

mod permits;
mod quota;
mod rate;

use antiphon::Item;
use antiphon_store::Tenant;

pub(crate) use self::permits::TurnPermit;
use self::permits::TurnPermits;
pub(crate) use self::quota::Quotas;
pub(crate) use self::rate::Allowance;
use self::rate::TenantRates;
use crate::error::ApiError;
use crate::settings::Limits;

/// The counters of this process for the limits.
pub(crate) struct Limiter {
    rates: Option<TenantRates>,
    permits: TurnPermits,
}

impl Limiter {
    /// Creates the counters for these limits.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            rates: limits.rate.map(TenantRates::new),
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

/// Rejects items over the limits with the provider's error texts. `path` is the path of the array.
pub(crate) fn check_items(items: &[Item], path: &str, limits: &Limits) -> Result<(), ApiError> {
    if items.len() > limits.max_items {
        return Err(ApiError::ArrayTooLong {
            path: path.into(),
            maximum: limits.max_items,
            length: items.len(),
        });
    }
    let mut lengths = items.iter().map(|item| item.raw().len()).enumerate();
    match lengths.find(|(_, length)| *length > limits.max_item_bytes) {
        None => Ok(()),
        Some((position, length)) => check_item(length, &format!("{path}[{position}]"), limits),
    }
}

/// Rejects an item whose length in bytes exceeds the limit.
pub(crate) fn check_item(length: usize, path: &str, limits: &Limits) -> Result<(), ApiError> {
    let maximum = limits.max_item_bytes;
    if length <= maximum {
        return Ok(());
    }
    Err(ApiError::ItemTooLong { path: path.into(), maximum, length })
}
