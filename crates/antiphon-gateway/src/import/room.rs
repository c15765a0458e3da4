//! The room that the quotas leave for an object.

use std::num::NonZeroU64;

use antiphon_store::{Store, StoreError, Tenant, Usage};

use crate::settings::Limits;

/// The amount that an object may add, and the quota that sets it.
pub(super) struct Room {
    items: Bound,
    bytes: Bound,
}

/// A bound of a quota: the rest, with the name and the value of its setting.
type Bound = Option<(u64, &'static str, u64)>;

impl Room {
    pub(super) async fn new(
        store: &dyn Store,
        tenant: &Tenant,
        limits: &Limits,
        is_conversation: bool,
    ) -> Result<Self, StoreError> {
        let quota = &limits.tenant_quota;
        let used = if quota.is_set() { store.usage(tenant).await? } else { Usage::default() };
        let tenant_items = bound("max-tenant-items", quota.max_items, used.items);
        let tenant_bytes = bound("max-tenant-bytes", quota.max_bytes, used.bytes);
        let quota = &limits.conversation_quota;
        let items = bound("max-conversation-items", quota.max_items, 0);
        let bytes = bound("max-conversation-bytes", quota.max_bytes, 0);
        Ok(Self {
            items: tightest(tenant_items, items.filter(|_| is_conversation)),
            bytes: tightest(tenant_bytes, bytes.filter(|_| is_conversation)),
        })
    }

    pub(super) fn amount(&self) -> Usage {
        let rest = |bound: Bound| bound.map_or(u64::MAX, |(rest, ..)| rest);
        Usage { items: rest(self.items), bytes: rest(self.bytes) }
    }

    /// The sentence for an object that is too large.
    pub(super) fn refusal(&self, unit: &str) -> String {
        let bound = if unit == "items" { self.items } else { self.bytes };
        let (rest, setting, maximum) = bound.unwrap_or_default();
        format!(
            "the quota is exceeded: {setting} is {maximum}, which leaves room for {rest} {unit}"
        )
    }
}

fn bound(setting: &'static str, maximum: Option<NonZeroU64>, used: u64) -> Bound {
    let maximum = maximum?.get();
    Some((maximum.saturating_sub(used), setting, maximum))
}

fn tightest(one: Bound, other: Bound) -> Bound {
    one.into_iter().chain(other).min_by_key(|(rest, ..)| *rest)
}
