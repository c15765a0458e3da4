//! Whether a caller may have what it asks for: how often, and how much at once.

mod items;
mod permits;
mod quota;
mod rate;

use antiphon_store::Tenant;

pub(crate) use self::items::{check_item, check_items};
pub(crate) use self::permits::TurnPermit;
use self::permits::TurnPermits;
pub(crate) use self::rate::Allowance;
use self::rate::Rates;
use crate::error::ApiError;
use crate::settings::Limits;

/// The counts that limits are held to, of this process.
pub(crate) struct Limiter {
    rates: Option<Rates>,
    permits: TurnPermits,
}

impl Limiter {
    /// Counts for these limits.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            rates: limits.rate.map(Rates::new),
            permits: TurnPermits::new(limits.max_open_turns),
        }
    }

    /// Counts a request of a tenant. `None` where requests are not counted.
    pub(crate) fn request(&self, tenant: &Tenant) -> Option<Allowance> {
        self.rates.as_ref().map(|rates| rates.take(tenant))
    }

    /// The right to have one more turn open, for as long as it is held.
    pub(crate) fn permit_turn(&self, tenant: &Tenant) -> Result<TurnPermit, ApiError> {
        self.permits.grant(tenant)
    }
}
