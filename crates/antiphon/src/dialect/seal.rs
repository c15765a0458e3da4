//! A provider's reasoning in `encrypted_content`.
//!
//! Chat Completions and Anthropic Messages return a model's reasoning in blocks of their own, some of
//! them signed, and want them back unchanged in the next request. An item of the Responses API has one
//! place for what only its maker understands: `encrypted_content`.

use std::borrow::Cow;

use super::Dialect;
use crate::item::Item;
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// What a provider wants back, and which provider: a JSON object in the text of
/// `encrypted_content`.
///
/// ```json
/// {"antiphon":"anthropic","origin":"api.anthropic.com claude-x","content":{"type":"thinking",…}}
/// ```
///
/// It is no secret and no proof: whoever made the content has signed or encrypted it where that is
/// needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The dialect that the content is written in.
    pub dialect: Dialect,
    /// Who made it. It goes back nowhere else.
    pub origin: Origin,
    /// The content, raw: one JSON object as the dialect's next request carries it.
    pub content: String,
}

impl Seal {
    /// The text for `encrypted_content`.
    pub fn to_text(&self) -> String {
        let (dialect, origin) = (self.dialect.name(), quote(self.origin.as_str()));
        format!(r#"{{"antiphon":"{dialect}","origin":{origin},"content":{}}}"#, self.content)
    }

    /// The seal that an `encrypted_content` is; `None` where a provider encrypted it itself.
    pub fn parse(text: &str) -> Option<Self> {
        let object = Object::parse(text.as_bytes()).ok()?;
        Some(Self {
            dialect: object.string("antiphon")?.parse().ok()?,
            origin: Origin::new(object.string("origin").map(Cow::into_owned)?),
            content: object.get("content").filter(|raw| raw.starts_with('{'))?.to_owned(),
        })
    }

    /// The seal in an item's `encrypted_content`. Items without the word that every seal begins with
    /// are not read.
    pub fn of(item: &Item) -> Option<Self> {
        memchr::memmem::find(item.raw(), b"antiphon")?;
        Self::parse(&item.object().string("encrypted_content")?)
    }

    /// Whether this origin made it, in this dialect.
    pub(super) fn is_by(&self, dialect: Dialect, origin: &Origin) -> bool {
        self.dialect == dialect && self.origin == *origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_comes_back_as_it_was() {
        let seal = Seal {
            dialect: Dialect::Anthropic,
            origin: Origin::new("host \"m\""),
            content: r#"{"type":"thinking","thinking":"a\nb","signature":"EqQB"}"#.into(),
        };
        assert_eq!(Seal::parse(&seal.to_text()), Some(seal));
    }

    #[test]
    fn an_item_holds_the_seal_that_its_encrypted_content_is() {
        let seal = Seal {
            dialect: Dialect::Chat,
            origin: Origin::new("host m"),
            content: r#"{"reasoning_content":"hm"}"#.into(),
        };
        let item = |encrypted: &str| {
            let raw = format!(r#"{{"type":"reasoning","encrypted_content":{}}}"#, quote(encrypted));
            Item::parse(raw.into()).unwrap()
        };
        assert_eq!(Seal::of(&item(&seal.to_text())), Some(seal));
        for encrypted in ["gAAAAABm", "antiphon"] {
            assert_eq!(Seal::of(&item(encrypted)), None);
        }
    }

    #[test]
    fn what_a_provider_encrypted_is_no_seal() {
        for text in ["gAAAAABm", "", "{}", r#"{"antiphon":"anthropic"}"#, r#"{"antiphon":"x"}"#] {
            assert_eq!(Seal::parse(text), None, "{text}");
        }
    }
}
