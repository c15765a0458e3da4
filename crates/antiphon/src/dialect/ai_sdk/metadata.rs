//! The `providerMetadata` of a part.

use std::collections::BTreeMap;

use super::part::Part;
use crate::json::Object;

/// Metadata by provider. The user chooses a provider's name (`openai`, `azure`, a custom name), so
/// most fields are looked up in all providers.
#[derive(Default)]
pub(super) struct Metadata<'a> {
    providers: BTreeMap<String, Object<'a>>,
    raw: &'a str,
}

impl<'a> Metadata<'a> {
    /// The metadata of a part; empty if there is none.
    pub(super) fn from_part(part: Part<'a>) -> Self {
        let Some(raw) = part.get("providerMetadata") else {
            return Self::default();
        };
        Self { providers: serde_json::from_str(raw).unwrap_or_default(), raw }
    }

    /// The raw value of this field, from any provider.
    pub(super) fn field(&self, key: &str) -> Option<&str> {
        self.providers.values().find_map(|fields| fields.present(key))
    }

    /// The raw value of this field, from the provider with this name.
    pub(super) fn provider_field(&self, provider: &str, key: &str) -> Option<&str> {
        self.providers.get(provider)?.present(key)
    }

    /// Whether any provider has this field, even if it is `null`.
    pub(super) fn has(&self, key: &str) -> bool {
        self.providers.values().any(|fields| fields.get(key).is_some())
    }

    /// The whole metadata, raw; `None` if it has no fields.
    pub(super) fn raw(&self) -> Option<&'a str> {
        let has_fields = self.providers.values().any(|fields| fields.iter().next().is_some());
        has_fields.then_some(self.raw)
    }
}
