//! The limits and quotas.
//!
//! All values are whole numbers above 0; times are in seconds. Without `requests-per-second`, the
//! request rate is unlimited; without `burst`, a burst may have `requests-per-second` requests;
//! without a quota, storage is unlimited.

use std::num::NonZeroU64;

use antiphon_gateway::settings::{Limits, Quota, Rate};

use super::catalog::{
    BODY_TIMEOUT, BURST, CLIENT_TIMEOUT, HEADER_TIMEOUT, MAX_BODY_BYTES, MAX_CONNECTIONS,
    MAX_CONVERSATION_BYTES, MAX_CONVERSATION_ITEMS, MAX_HEADER_BYTES, MAX_ITEM_BYTES, MAX_ITEMS,
    MAX_OPEN_TURNS, MAX_TENANT_BYTES, MAX_TENANT_ITEMS, MAX_WEBSOCKET_AGE, REQUESTS_PER_SECOND,
    SETTINGS,
};
use super::declaration::Setting;
use super::values::Values;
use crate::failure::Failure;

/// Parses the limits. Rejects those that another limit hides.
pub(super) fn limits(values: &Values) -> Result<Limits, Failure> {
    let mut limits = Limits::default();
    values.parse_into(&MAX_BODY_BYTES, &mut limits.max_body_bytes)?;
    values.parse_into(&MAX_HEADER_BYTES, &mut limits.max_header_bytes)?;
    values.parse_into(&MAX_ITEMS, &mut limits.max_items)?;
    values.parse_into(&MAX_ITEM_BYTES, &mut limits.max_item_bytes)?;
    values.parse_into(&MAX_OPEN_TURNS, &mut limits.max_open_turns)?;
    values.parse_into(&MAX_CONNECTIONS, &mut limits.max_connections)?;
    values.parse_into(&CLIENT_TIMEOUT, &mut limits.client_timeout)?;
    values.parse_into(&HEADER_TIMEOUT, &mut limits.header_timeout)?;
    values.parse_into(&BODY_TIMEOUT, &mut limits.body_timeout)?;
    values.parse_into(&MAX_WEBSOCKET_AGE, &mut limits.max_websocket_age)?;
    limits.tenant_quota = Quota {
        max_items: values.parse(&MAX_TENANT_ITEMS)?,
        max_bytes: values.parse(&MAX_TENANT_BYTES)?,
    };
    limits.conversation_quota = Quota {
        max_items: conversation_quota(values, &MAX_CONVERSATION_ITEMS, &MAX_TENANT_ITEMS)?,
        max_bytes: conversation_quota(values, &MAX_CONVERSATION_BYTES, &MAX_TENANT_BYTES)?,
    };
    limits.rate = rate(values)?;
    check_item_limit(values, &limits)?;
    Ok(limits)
}

fn rate(values: &Values) -> Result<Option<Rate>, Failure> {
    let burst = values.parse(&BURST)?;
    match (values.parse(&REQUESTS_PER_SECOND)?, values.first(&BURST)) {
        (Some(per_second), _) => Ok(Some(Rate { per_second, burst: burst.unwrap_or(per_second) })),
        (None, None) => Ok(None),
        (None, Some(burst)) => {
            Err(burst.refused("a burst needs requests-per-second, which is not given"))
        }
    }
}

/// The quota of a conversation. Rejects one above the tenant's quota: it would have no effect,
/// because the tenant's quota covers all its conversations together.
fn conversation_quota(
    values: &Values,
    setting: &Setting<NonZeroU64>,
    of_tenant: &Setting<NonZeroU64>,
) -> Result<Option<NonZeroU64>, Failure> {
    let quota = values.parse(setting)?;
    match (values.first(setting), values.parse(of_tenant)?) {
        (Some(value), Some(tenant)) if quota > Some(tenant) => {
            let key = of_tenant.declaration.key;
            let sentence =
                format!("this has no effect above {key}, which is {tenant}: raise {key} too");
            Err(value.refused(sentence))
        }
        _ => Ok(quota),
    }
}

/// Rejects an item limit above the body limit. It would have no effect, because a body contains its
/// items.
fn check_item_limit(values: &Values, limits: &Limits) -> Result<(), Failure> {
    let body = limits.max_body_bytes;
    match values.first(&MAX_ITEM_BYTES).filter(|_| limits.max_item_bytes > body) {
        Some(value) => Err(value.refused_as(format!(
            "has no effect above max-body-bytes, which is {body}: raise max-body-bytes too"
        ))),
        None => Ok(()),
    }
}

/// Whether only the file can set the limit `key`.
pub(super) fn is_file_only(key: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.is_limit && setting.flag.is_none() && setting.key == key)
}
