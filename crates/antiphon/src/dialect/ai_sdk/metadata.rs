//! What a provider adds to a part: `providerMetadata`.

use std::collections::BTreeMap;

use super::part::Part;
use crate::json::Object;

/// Metadata by the providers' names. A provider is called as its user configured it (`openai`,
/// `azure`, a name of one's own), so fields are looked for by their own names.
#[derive(Default)]
pub(super) struct Metadata<'a> {
    providers: BTreeMap<String, Object<'a>>,
    raw: &'a str,
}

impl<'a> Metadata<'a> {
    /// That of a part; empty where it has none.
    pub(super) fn of(part: Part<'a>) -> Self {
        let Some(raw) = part.get("providerMetadata") else {
            return Self::default();
        };
        Self { providers: serde_json::from_str(raw).unwrap_or_default(), raw }
    }

    /// The raw value of the field that has this name, of whichever provider.
    pub(super) fn field(&self, key: &str) -> Option<&str> {
        self.providers.values().find_map(|fields| fields.present(key))
    }

    /// The same of the provider of this name.
    pub(super) fn field_of(&self, provider: &str, key: &str) -> Option<&str> {
        self.providers.get(provider)?.present(key)
    }

    /// Whether a field of this name is there, be it `null`.
    pub(super) fn has(&self, key: &str) -> bool {
        self.providers.values().any(|fields| fields.get(key).is_some())
    }

    /// The whole of it, raw; `None` where it says nothing.
    pub(super) fn raw(&self) -> Option<&'a str> {
        let speaks = self.providers.values().any(|fields| fields.iter().next().is_some());
        speaks.then_some(self.raw)
    }
}
