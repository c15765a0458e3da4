//! What of a reasoning item goes into a block's signature.

use crate::dialect::{Dialect, Seal};
use crate::json::{Object, quote};

/// What the `encrypted_content` of reasoning is for Anthropic's clients, who give it back as it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sealed {
    /// Nothing is sealed.
    Nothing,
    /// A signature, as a raw JSON string: Anthropic's own, or another provider's
    /// `encrypted_content` as a whole, so that it can come back.
    Signature(String),
    /// A whole `redacted_thinking` block, raw.
    Redacted(String),
}

impl Sealed {
    pub(super) fn of(reasoning: &Object<'_>) -> Self {
        let Some(text) = reasoning.string("encrypted_content").filter(|text| !text.is_empty())
        else {
            return Self::Nothing;
        };
        match Seal::parse(&text) {
            Some(seal) if seal.dialect == Dialect::Anthropic => Self::of_block(seal.content),
            _ => Self::Signature(quote(&text)),
        }
    }

    fn of_block(raw: String) -> Self {
        let block = Object::parse(raw.as_bytes()).unwrap_or_default();
        if block.string("type").as_deref() == Some("redacted_thinking") {
            return Self::Redacted(raw);
        }
        let signature = block.get("signature").filter(|raw| raw.len() > 2);
        signature.map_or(Self::Nothing, |raw| Self::Signature(raw.to_owned()))
    }
}
