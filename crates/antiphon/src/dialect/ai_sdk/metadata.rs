//! The `providerMetadata` of parts, and the data in it that a provider requires back.

use std::collections::BTreeMap;

use super::part::Part;
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, quote};
use crate::transcript::Origin;

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

/// The provider's metadata of one reasoning item, from all its parts.
#[derive(Default)]
pub(super) struct Sealed {
    /// OpenAI's raw id of the item. Its encrypted content is bound to this id.
    item_id: Option<String>,
    /// `reasoningEncryptedContent`, raw, as OpenAI requires it back.
    encrypted: Option<String>,
    /// Anthropic's `signature` of the text, raw.
    signature: Option<String>,
    /// Anthropic's `redactedData`, raw.
    redacted: Option<String>,
    /// The metadata of any other provider.
    other: Option<String>,
}

impl Sealed {
    /// No metadata yet, for an item with this raw id.
    pub(super) fn new(item_id: Option<String>) -> Self {
        Self { item_id, ..Self::default() }
    }

    /// The provider's raw id of the item, if it has one.
    pub(super) fn item_id(&self) -> Option<&str> {
        self.item_id.as_deref()
    }

    /// Adds the metadata of a part. Later parts replace earlier values.
    pub(super) fn add_metadata(&mut self, metadata: &Metadata<'_>) {
        let string = |raw: Option<&str>| raw.filter(|raw| raw.starts_with('"')).map(str::to_owned);
        let replace = |kept: &mut Option<String>, new: Option<String>| {
            if new.is_some() {
                *kept = new;
            }
        };
        replace(&mut self.item_id, string(metadata.field("itemId")));
        replace(&mut self.encrypted, string(metadata.field("reasoningEncryptedContent")));
        replace(&mut self.signature, string(metadata.provider_field("anthropic", "signature")));
        replace(&mut self.redacted, string(metadata.provider_field("anthropic", "redactedData")));
        replace(&mut self.other, metadata.raw().map(str::to_owned));
    }

    /// Whether there is anything to return to the provider.
    pub(super) fn has_content(&self) -> bool {
        self.content("").is_some() || self.encrypted.is_some()
    }

    /// The raw `encrypted_content` for reasoning with this text (the inside of a JSON string).
    pub(super) fn encrypted_content(&self, text: &str, origin: &Origin) -> Option<String> {
        self.encrypted.clone().or_else(|| {
            let (dialect, content) = self.content(text)?;
            Some(quote(&Seal { dialect, origin: origin.clone(), content }.to_text()))
        })
    }

    /// The content to seal: an Anthropic block if the metadata is Anthropic's, so that it can be
    /// returned without the AI SDK too; otherwise a part of an AI SDK message. Nothing for an
    /// OpenAI item without encrypted content, because OpenAI's server stores it.
    fn content(&self, text: &str) -> Option<(Dialect, String)> {
        if let Some(signature) = &self.signature {
            let block =
                format!(r#"{{"type":"thinking","thinking":"{text}","signature":{signature}}}"#);
            return Some((Dialect::Anthropic, block));
        }
        if let Some(redacted) = &self.redacted {
            let block = format!(r#"{{"type":"redacted_thinking","data":{redacted}}}"#);
            return Some((Dialect::Anthropic, block));
        }
        let metadata = self.other.as_ref().filter(|_| self.item_id.is_none())?;
        let part =
            format!(r#"{{"type":"reasoning","text":"{text}","providerOptions":{metadata}}}"#);
        Some((Dialect::AiSdk, part))
    }
}
