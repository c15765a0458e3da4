//! What goes back to a provider with its reasoning.

use super::metadata::Metadata;
use crate::dialect::{Dialect, Seal};
use crate::json::quote;
use crate::transcript::Origin;

/// What a provider has added to one reasoning, from whichever of its parts.
#[derive(Default)]
pub(super) struct Sealed {
    /// OpenAI's id of the item, raw. Its encrypted content is bound to it.
    item_id: Option<String>,
    /// `reasoningEncryptedContent`, raw, as OpenAI wants it back.
    encrypted: Option<String>,
    /// Anthropic's `signature` of the text, raw.
    signature: Option<String>,
    /// Anthropic's `redactedData`, raw.
    redacted: Option<String>,
    /// The metadata of any other provider.
    other: Option<String>,
}

impl Sealed {
    /// Nothing yet, of an item of this id (raw).
    pub(super) fn of_item(item_id: Option<String>) -> Self {
        Self { item_id, ..Self::default() }
    }

    /// The item's own id, raw, if the provider has one for it.
    pub(super) fn item_id(&self) -> Option<&str> {
        self.item_id.as_deref()
    }

    /// Takes what a part says. A later part says more than an earlier one.
    pub(super) fn absorb(&mut self, metadata: &Metadata<'_>) {
        let string = |raw: Option<&str>| raw.filter(|raw| raw.starts_with('"')).map(str::to_owned);
        let replace = |kept: &mut Option<String>, new: Option<String>| {
            if new.is_some() {
                *kept = new;
            }
        };
        replace(&mut self.item_id, string(metadata.field("itemId")));
        replace(&mut self.encrypted, string(metadata.field("reasoningEncryptedContent")));
        replace(&mut self.signature, string(metadata.field_of("anthropic", "signature")));
        replace(&mut self.redacted, string(metadata.field_of("anthropic", "redactedData")));
        replace(&mut self.other, metadata.raw().map(str::to_owned));
    }

    /// Whether there is anything that a provider wants back.
    pub(super) fn holds_anything(&self) -> bool {
        self.content("").is_some() || self.encrypted.is_some()
    }

    /// The raw `encrypted_content` of reasoning with this text (the inside of a JSON string).
    pub(super) fn encrypted_content(&self, text: &str, origin: &Origin) -> Option<String> {
        self.encrypted.clone().or_else(|| {
            let (dialect, content) = self.content(text)?;
            Some(quote(&Seal { dialect, origin: origin.clone(), content }.to_text()))
        })
    }

    /// What is sealed: a block of Anthropic's where it is one, so that it can go back without the
    /// AI SDK too; else a part of an AI SDK message. Of OpenAI's, without encrypted content,
    /// nothing: its server keeps it.
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
