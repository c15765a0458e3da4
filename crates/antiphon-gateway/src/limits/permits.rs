//! Limits the number of open turns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antiphon_store::Tenant;

use crate::error::ApiError;

/// The number of open turns per tenant. A tenant without open turns has no entry.
pub(super) struct TurnPermits {
    maximum: usize,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts(Mutex<HashMap<Tenant, usize>>);

/// Counts one open turn until its last copy is dropped.
#[derive(Clone)]
pub(crate) struct TurnPermit(
    #[expect(dead_code, reason = "it counts for as long as it is held")] Arc<CountedTurn>,
);

struct CountedTurn {
    tenant: Tenant,
    counts: Arc<Counts>,
}

impl TurnPermits {
    /// Permits at most `maximum` open turns per tenant.
    pub(super) fn new(maximum: usize) -> Self {
        Self { maximum, counts: Arc::default() }
    }

    /// Counts one more open turn.
    pub(super) fn grant(&self, tenant: &Tenant) -> Result<TurnPermit, ApiError> {
        let mut counts = self.counts.lock();
        let count = counts.get(tenant).copied().unwrap_or_default();
        if count >= self.maximum {
            return Err(ApiError::TooManyTurns { maximum: self.maximum });
        }
        counts.insert(tenant.clone(), count + 1);
        let counted = CountedTurn { tenant: tenant.clone(), counts: Arc::clone(&self.counts) };
        Ok(TurnPermit(Arc::new(counted)))
    }
}

impl Counts {
    /// Each change of a count is one step, so a panic elsewhere cannot leave it inconsistent.
    fn lock(&self) -> MutexGuard<'_, HashMap<Tenant, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CountedTurn {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        match counts.get_mut(&self.tenant) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(counts.remove(&self.tenant)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenants_without_open_turns_are_forgotten() {
        let (acme, globex) = (Tenant::new("acme"), Tenant::new("globex"));
        let permits = TurnPermits::new(2);
        let (first, second) = (permits.grant(&acme).ok(), permits.grant(&acme).ok());
        assert!(second.is_some());
        assert!(permits.grant(&acme).is_err());
        assert!(permits.grant(&globex).is_ok());

        drop(first.clone());
        assert!(permits.grant(&acme).is_err(), "a copy is no turn of its own");
        drop(first);
        assert!(permits.grant(&acme).is_ok());
        drop(second);

        assert!(permits.counts.lock().is_empty());
    }
}
