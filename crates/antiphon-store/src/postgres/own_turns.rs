//! The pending turns that this process works on.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ids::{ResponseId, Tenant};

/// The pending turns of this process that may not have ended.
///
/// The database may have a row of another one: a statement whose connection was lost can insert it
/// after the turn was dropped. As long as this process lives, no other process settles that row.
#[derive(Debug, Default)]
pub(super) struct OwnTurns(Mutex<HashSet<(Tenant, ResponseId)>>);

impl OwnTurns {
    /// Adds a turn, before its record is written.
    pub(super) fn add(&self, tenant: &Tenant, id: &ResponseId) {
        self.all().insert((tenant.clone(), id.clone()));
    }

    /// Removes a turn, after its record was deleted.
    pub(super) fn remove(&self, tenant: &Tenant, id: &ResponseId) {
        self.all().remove(&(tenant.clone(), id.clone()));
    }

    pub(super) fn contains(&self, tenant: &Tenant, id: &ResponseId) -> bool {
        self.all().contains(&(tenant.clone(), id.clone()))
    }

    fn all(&self) -> MutexGuard<'_, HashSet<(Tenant, ResponseId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
