//! A provider's reasoning in `encrypted_content`.
//!
//! Chat Completions and Anthropic Messages return reasoning in their own fields and blocks, some of
//! them signed. The next request must contain them unchanged. A Responses API item has one field
//! for such opaque data: `encrypted_content`.

use std::borrow::Cow;

use super::Dialect;
use crate::item::Item;
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// Data that the next request returns to its provider. It is stored as a JSON object in the text of
/// `encrypted_content`.
///
/// ```json
/// {"antiphon":"anthropic","origin":"api.anthropic.com claude-x","content":{"type":"thinking",…}}
/// ```
///
/// A seal is neither encrypted nor signed by Antiphon: a provider signs or encrypts its content
/// itself if necessary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The dialect that the content is written in.
    pub dialect: Dialect,
    /// The upstream and model that created the content. It is returned to no other.
    pub origin: Origin,
    /// The raw content: a JSON object that the next request of the dialect contains.
    pub content: String,
}

impl Seal {
    /// The text for `encrypted_content`.
    pub fn to_text(&self) -> String {
        let (dialect, origin) = (self.dialect.name(), quote(self.origin.as_str()));
        format!(r#"{{"antiphon":"{dialect}","origin":{origin},"content":{}}}"#, self.content)
    }

    /// The seal around content that a server of the Responses API encrypted. A client of another
    /// API returns it, so that its origin is known.
    pub(super) fn from_encrypted(text: &str, origin: Origin) -> Self {
        let content = format!(r#"{{"encrypted_content":{}}}"#, quote(text));
        Self { dialect: Dialect::Responses, origin, content }
    }

    /// The content that `origin`, a server of the Responses API, encrypted.
    pub(super) fn encrypted_by(&self, origin: &Origin) -> Option<String> {
        let content = Object::parse_str(&self.content).ok()?;
        let text = content.string("encrypted_content").map(Cow::into_owned);
        text.filter(|_| self.is_by(Dialect::Responses, origin))
    }

    /// Parses an `encrypted_content`. Returns `None` if it is not a seal, but encrypted by a
    /// provider.
    pub fn parse(text: &str) -> Option<Self> {
        let object = Object::parse(text.as_bytes()).ok()?;
        Some(Self {
            dialect: object.string("antiphon")?.parse().ok()?,
            origin: Origin::new(object.string("origin").map(Cow::into_owned)?),
            content: object.get("content").filter(|raw| raw.starts_with('{'))?.to_owned(),
        })
    }

    /// The seal in an item's `encrypted_content`. An item without the text `antiphon`, which every
    /// seal contains, is not parsed.
    pub fn from_item(item: &Item) -> Option<Self> {
        memchr::memmem::find(item.raw(), b"antiphon")?;
        Self::parse(&item.object().string("encrypted_content")?)
    }

    /// Whether the seal is of this dialect and origin.
    pub(super) fn is_by(&self, dialect: Dialect, origin: &Origin) -> bool {
        self.dialect == dialect && self.origin == *origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seal_round_trips() {
        let seal = Seal {
            dialect: Dialect::Anthropic,
            origin: Origin::new("host \"m\""),
            content: r#"{"type":"thinking","thinking":"a\nb","signature":"EqQB"}"#.into(),
        };
        assert_eq!(Seal::parse(&seal.to_text()), Some(seal));
    }

    #[test]
    fn seal_is_read_from_item() {
        let seal = Seal {
            dialect: Dialect::Chat,
            origin: Origin::new("host m"),
            content: r#"{"reasoning_content":"hm"}"#.into(),
        };
        let item = |encrypted: &str| {
            let raw = format!(r#"{{"type":"reasoning","encrypted_content":{}}}"#, quote(encrypted));
            Item::parse(raw.into()).unwrap()
        };
        assert_eq!(Seal::from_item(&item(&seal.to_text())), Some(seal));
        for encrypted in ["gAAAAABm", "antiphon"] {
            assert_eq!(Seal::from_item(&item(encrypted)), None);
        }
    }

    #[test]
    fn provider_encrypted_content_is_not_a_seal() {
        for text in ["gAAAAABm", "", "{}", r#"{"antiphon":"anthropic"}"#, r#"{"antiphon":"x"}"#] {
            assert_eq!(Seal::parse(text), None, "{text}");
        }
    }
}
