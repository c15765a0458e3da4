//! The limits of the file.
//!
//! ```toml
//! [limits]
//! max-body-bytes = 33554432
//! max-header-bytes = 65536
//! max-items = 100000
//! max-item-bytes = 33554432
//! max-open-turns = 10000
//! requests-per-second = 20
//! burst = 40
//! max-connections = 20000
//! client-timeout = 60
//! header-timeout = 75
//! body-timeout = 30
//! max-websocket-age = 3600
//! max-answer-bytes = 67108864
//! max-tenant-bytes = 10737418240
//! max-tenant-items = 1000000
//! max-conversation-bytes = 104857600
//! max-conversation-items = 10000
//! ```
//!
//! All values are whole numbers above 0; times are in seconds. `requests-per-second`,
//! `max-open-turns` and the quotas of tenants and conversations also have a flag and a variable.
//!
//! Defaults: without `requests-per-second`, the request rate is unlimited; without `burst`, a burst
//! may have `requests-per-second` requests; without a quota, storage is unlimited.

use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;
use std::time::Duration;

use antiphon_gateway::settings::{Limits, Quota, Rate};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::Document;
use super::layer::{Layer, Layers, Said};
use super::parse;
use super::setting::Setting;
use crate::failure::Failure;

/// The limits in the file's table.
#[derive(Default)]
pub(super) struct FromTable {
    /// The limits that only the file can set.
    limits: Limits,
    burst: Option<Said>,
    /// The maximum size of an upstream's answer, in bytes.
    pub(super) max_answer: Option<usize>,
}

impl FromTable {
    /// The limits, completed with those that also have a flag or a variable.
    pub(super) fn with(mut self, layers: &Layers) -> Result<Limits, Failure> {
        if let Some(open) = layers.one(Setting::MaxOpenTurns, parse::count::<NonZeroU32>)? {
            self.limits.max_open_turns = open.get() as usize;
        }
        self.limits.tenant_quota = Quota {
            max_items: layers.one(Setting::MaxTenantItems, parse::count)?,
            max_bytes: layers.one(Setting::MaxTenantBytes, parse::count)?,
        };
        self.limits.conversation_quota = Quota {
            max_items: within(layers, Setting::MaxConversationItems, Setting::MaxTenantItems)?,
            max_bytes: within(layers, Setting::MaxConversationBytes, Setting::MaxTenantBytes)?,
        };
        let per_second = layers.one(Setting::RequestsPerSecond, parse::count)?;
        let burst = self.burst.as_ref().map(|said| Ok((said, parse::count(said)?))).transpose()?;
        self.limits.rate = match (per_second, burst) {
            (None, None) => None,
            (None, Some((said, _))) => {
                return Err(said.refused("a burst needs requests-per-second, which is not given"));
            }
            (Some(per_second), burst) => {
                let burst = burst.map_or(per_second, |(_, burst)| burst);
                Some(Rate { per_second, burst })
            }
        };
        Ok(self.limits)
    }
}

/// The quota of a conversation. Rejects one above the tenant's quota: it would have no effect,
/// because the tenant's quota covers all its conversations together.
fn within(
    layers: &Layers,
    setting: Setting,
    of_tenant: Setting,
) -> Result<Option<NonZeroU64>, Failure> {
    let tenant: Option<NonZeroU64> = layers.one(of_tenant, parse::count)?;
    let checked = |said: &Said| {
        let count = parse::count(said)?;
        match tenant.filter(|tenant| count > *tenant) {
            None => Ok(count),
            Some(tenant) => {
                let key = of_tenant.key();
                Err(said.refused(format!(
                    "this has no effect above {key}, which is {tenant}: raise {key} too"
                )))
            }
        }
    };
    layers.one(setting, checked)
}

/// Parses the table. Limits that also have a flag go to `layer`.
pub(super) fn understood(
    document: &Document<'_>,
    value: &Spanned<DeValue<'_>>,
    layer: &mut Layer,
) -> Result<FromTable, Failure> {
    let entries = value.get_ref().as_table().ok_or_else(|| {
        document.refused(Some(value.span()), "limits must be a table below [limits]")
    })?;
    let mut table = FromTable::default();
    for (key, value) in entries {
        let Some(known) = KEYS.into_iter().find(|known| key.get_ref() == *known) else {
            let (name, known) = (key.get_ref(), KEYS.join(", "));
            let sentence = format!("unknown key '{name}'; the limits are {known}");
            return Err(document.refused(Some(key.span()), &sentence));
        };
        if let Some(setting) = QUOTAS.into_iter().find(|quota| quota.key() == known) {
            let number: NonZeroU64 = number(document, known, value)?;
            layer.say(setting, document.said_at(known, value, number.to_string()));
            continue;
        }
        let number: NonZeroU32 = number(document, known, value)?;
        let said = document.said_at(known, value, number.to_string());
        let setting = Setting::ALL.into_iter().find(|setting| setting.key() == known);
        match setting {
            Some(setting) => layer.say(setting, said),
            None if known == BURST => table.burst = Some(said),
            None if known == MAX_ANSWER => table.max_answer = Some(number.get() as usize),
            None => set(&mut table.limits, known, number),
        }
    }
    check_item_bound(document, entries, &table.limits)?;
    Ok(table)
}

/// Rejects an item limit above the body limit. It would have no effect, because a body contains its
/// items.
fn check_item_bound(
    document: &Document<'_>,
    entries: &DeTable<'_>,
    limits: &Limits,
) -> Result<(), Failure> {
    let key = entries.keys().find(|key| key.get_ref() == "max-item-bytes");
    let (item, body) = (limits.max_item_bytes, limits.max_body_bytes);
    match key.filter(|_| item > body) {
        Some(key) => Err(document.refused(
            Some(key.span()),
            &format!(
                "max-item-bytes has no effect above max-body-bytes, which is {body}: raise \
                 max-body-bytes too"
            ),
        )),
        None => Ok(()),
    }
}

const BURST: &str = "burst";
const MAX_ANSWER: &str = "max-answer-bytes";

/// Limits whose values may exceed 32 bits.
const QUOTAS: [Setting; 4] = [
    Setting::MaxTenantBytes,
    Setting::MaxTenantItems,
    Setting::MaxConversationBytes,
    Setting::MaxConversationItems,
];

const KEYS: [&str; 17] = [
    "max-body-bytes",
    "max-header-bytes",
    "max-items",
    "max-item-bytes",
    "max-open-turns",
    "requests-per-second",
    BURST,
    "max-connections",
    "client-timeout",
    "header-timeout",
    "body-timeout",
    "max-websocket-age",
    MAX_ANSWER,
    "max-tenant-bytes",
    "max-tenant-items",
    "max-conversation-bytes",
    "max-conversation-items",
];

/// Whether only the file can set the limit `key`.
pub(super) fn is_file_only(key: &str) -> bool {
    KEYS.contains(&key) && Setting::ALL.into_iter().all(|setting| setting.key() != key)
}

fn set(limits: &mut Limits, key: &str, number: NonZeroU32) {
    let (count, seconds) = (number.get() as usize, Duration::from_secs(number.get().into()));
    match key {
        "max-body-bytes" => limits.max_body_bytes = count,
        "max-header-bytes" => limits.max_header_bytes = count,
        "max-items" => limits.max_items = count,
        "max-item-bytes" => limits.max_item_bytes = count,
        "max-connections" => limits.max_connections = count,
        "client-timeout" => limits.client_timeout = seconds,
        "header-timeout" => limits.header_timeout = seconds,
        "body-timeout" => limits.body_timeout = seconds,
        "max-websocket-age" => limits.max_websocket_age = seconds,
        _ => unreachable!("the keys are those above"),
    }
}

fn number<T: FromStr>(
    document: &Document<'_>,
    key: &'static str,
    value: &Spanned<DeValue<'_>>,
) -> Result<T, Failure> {
    let number = value.get_ref().as_integer();
    let number =
        number.and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
    number.and_then(|number| number.to_string().parse().ok()).ok_or_else(|| {
        document.refused(Some(value.span()), &format!("{key} must be a whole number above 0"))
    })
}
