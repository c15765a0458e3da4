//! Converts `encrypted_content` into a block's signature.

use crate::dialect::{Dialect, Seal};
use crate::json::{Object, quote};

/// The sealed form of a reasoning item for Anthropic's clients, which return it unchanged.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sealed {
    /// Nothing is sealed.
    Nothing,
    /// A signature, as a raw JSON string: Anthropic's own, or the whole `encrypted_content` of
    /// another provider, so that the client returns it.
    Signature(String),
    /// A whole `redacted_thinking` block, raw.
    Redacted(String),
}

impl Sealed {
    pub(super) fn from_item(reasoning: &Object<'_>) -> Self {
        let Some(text) = reasoning.string("encrypted_content").filter(|text| !text.is_empty())
        else {
            return Self::Nothing;
        };
        match Seal::parse(&text) {
            Some(seal) if seal.dialect == Dialect::Anthropic => Self::from_block(seal.content),
            _ => Self::Signature(quote(&text)),
        }
    }

    fn from_block(raw: String) -> Self {
        let block = Object::parse(raw.as_bytes()).unwrap_or_default();
        if block.string("type").as_deref() == Some("redacted_thinking") {
            return Self::Redacted(raw);
        }
        let signature = block.get("signature").filter(|raw| raw.len() > 2);
        signature.map_or(Self::Nothing, |raw| Self::Signature(raw.to_owned()))
    }
}
