//! Quotas for stored items.
//!
//! The gateway checks a quota before it sends a request to a model or an upstream. A request that
//! would exceed the quota fails with status 403, which clients do not retry by themselves. The
//! answer to an accepted turn is always stored, even if it is very long. Concurrent requests do not
//! see each other, so the open requests of a tenant can exceed its quota once.
//!
//! Without quotas, this module counts nothing and sends no query to the store.

use std::num::NonZeroU64;

use antiphon::HeldItem;
use antiphon_store::{ConversationId, Store, Tenant, Usage};

use crate::error::{ApiError, QuotaHolder};
use crate::settings::{Limits, Quota};

/// The quotas of a gateway, and the store that counts against them.
#[derive(Clone, Copy)]
pub(crate) struct Quotas<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) store: &'a dyn Store,
}

impl Quotas<'_> {
    /// Fails if items that are added to a conversation exceed a quota. `None` means a new
    /// conversation, or one without a ledger. A request without items never fails.
    pub(crate) async fn check_added(
        &self,
        tenant: &Tenant,
        conversation: Option<&ConversationId>,
        added: Usage,
    ) -> Result<(), ApiError> {
        if added == Usage::default() {
            return Ok(());
        }
        let quota = &self.limits.conversation_quota;
        if quota.is_set() {
            let held = match conversation {
                Some(id) => self.store.conversation_usage(tenant, id).await?,
                None => Usage::default(),
            };
            check(quota, QuotaHolder::Conversation, held, added)?;
        }
        self.check_tenant(tenant, added).await
    }

    /// Fails if a turn exceeds the quota of its conversation, which contains these items.
    pub(crate) fn check_conversation(
        &self,
        held: &[HeldItem],
        added: Usage,
    ) -> Result<(), ApiError> {
        let quota = &self.limits.conversation_quota;
        match quota.is_set() {
            true => check(quota, QuotaHolder::Conversation, Usage::from_items(held), added),
            false => Ok(()),
        }
    }

    /// Fails if a tenant's items and the added ones exceed its quota.
    pub(crate) async fn check_tenant(&self, tenant: &Tenant, added: Usage) -> Result<(), ApiError> {
        let quota = &self.limits.tenant_quota;
        match quota.is_set() {
            true => check(quota, QuotaHolder::Tenant, self.store.usage(tenant).await?, added),
            false => Ok(()),
        }
    }
}

fn check(quota: &Quota, holder: QuotaHolder, held: Usage, added: Usage) -> Result<(), ApiError> {
    let counts = [
        ("items", quota.max_items, held.items, added.items),
        ("bytes", quota.max_bytes, held.bytes, added.bytes),
    ];
    for (unit, maximum, held, added) in counts {
        if let Some(maximum) = maximum.map(NonZeroU64::get)
            && held.saturating_add(added) > maximum
        {
            return Err(ApiError::QuotaExceeded { holder, unit, maximum, held, added });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const USED: Usage = Usage { items: 9, bytes: 900 };

    fn quota(max_items: u64, max_bytes: u64) -> Quota {
        Quota { max_items: NonZeroU64::new(max_items), max_bytes: NonZeroU64::new(max_bytes) }
    }

    fn added(items: u64, bytes: u64) -> Usage {
        Usage { items, bytes }
    }

    #[test]
    fn quota_can_be_filled_completely() {
        let check = |added| check(&quota(10, 1000), QuotaHolder::Tenant, USED, added);
        assert_eq!(check(added(1, 100)), Ok(()));
        assert!(check(added(2, 1)).is_err());
        assert!(check(added(1, 101)).is_err());
        assert!(check(added(1, u64::MAX)).is_err());
    }

    #[test]
    fn unset_quota_bounds_nothing() {
        let all = Usage { items: u64::MAX, bytes: u64::MAX };
        assert_eq!(check(&quota(0, 0), QuotaHolder::Tenant, all, all), Ok(()));
        assert_eq!(check(&quota(10, 0), QuotaHolder::Tenant, USED, added(1, u64::MAX)), Ok(()));
    }

    #[test]
    fn refusal_names_quota_counts_and_remedy() {
        let refused = check(&quota(0, 1000), QuotaHolder::Tenant, USED, added(1, 101)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "Quota exceeded: this tenant may have 1000 bytes stored (max-tenant-bytes). It has \
             900, and this request adds 101. Delete items, or conversations together with their \
             responses, or ask the operator of the gateway for a higher quota."
        );
        let refused =
            check(&quota(10, 0), QuotaHolder::Conversation, USED, added(2, 1)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "Quota exceeded: this conversation may have 10 items stored (max-conversation-items). \
             It has 9, and this request adds 2. Delete items of the conversation, or begin a new \
             one, or ask the operator of the gateway for a higher quota."
        );
    }
}
