//! Encrypts the `encrypted_content` of compaction items.
//!
//! ```text
//! antiphon-compaction-1. | base64url(seal)
//! ```

use antiphon::json::{Object, quote};
use antiphon::{Item, Kind, Origin};
use antiphon_store::Tenant;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::summary_message;
use crate::seal::{SealKey, UnreadableSeal};

const VERSION: &str = "antiphon-compaction-1.";

/// Encrypts and decrypts compactions.
pub(crate) struct CompactionKey(SealKey);

/// The content of a compaction item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Compaction {
    /// A summary, readable for every model.
    Summary(String),
    /// The compaction item of an upstream. Only its origin can read it.
    Foreign {
        /// The origin of the item.
        origin: Origin,
        /// The original item.
        item: Item,
    },
    /// Content without the gateway's seal, which the caller got from another server. Only that
    /// server can read it.
    Unknown,
}

impl CompactionKey {
    /// Creates the key from its bytes.
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(SealKey::new(key, VERSION))
    }

    /// Encrypts a summary as `encrypted_content`.
    pub(crate) fn seal_summary(&self, tenant: &Tenant, summary: &str) -> String {
        self.seal(tenant, format!(r#"{{"summary":{}}}"#, quote(summary)))
    }

    /// Encrypts an upstream's item as `encrypted_content`.
    pub(crate) fn seal_foreign(&self, tenant: &Tenant, origin: &Origin, item: &str) -> String {
        let origin = quote(origin.as_str());
        self.seal(tenant, format!(r#"{{"origin":{origin},"item":{item}}}"#))
    }

    /// Decrypts `encrypted_content`.
    ///
    /// # Errors
    /// The content has the gateway's form, but the gateway did not seal it for this tenant.
    pub(crate) fn open(
        &self,
        tenant: &Tenant,
        content: &str,
    ) -> Result<Compaction, UnreadableSeal> {
        let Some(sealed) = content.strip_prefix(VERSION) else {
            return Ok(Compaction::Unknown);
        };
        let sealed = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| UnreadableSeal)?;
        Compaction::parse(&self.0.open(tenant, &sealed)?).ok_or(UnreadableSeal)
    }

    /// The content of a compaction item that the gateway sealed, as an item for an upstream that
    /// stores it: the message with the summary, or the upstream's own item. `None` for other items.
    pub(crate) fn unseal_item(&self, tenant: &Tenant, item: &Item) -> Option<Item> {
        if item.head().kind != Kind::Compaction {
            return None;
        }
        let content = item.object().string("encrypted_content")?.into_owned();
        match self.open(tenant, &content).ok()? {
            Compaction::Summary(summary) => Some(summary_message(&summary)),
            Compaction::Foreign { item, .. } => Some(item),
            Compaction::Unknown => None,
        }
    }

    fn seal(&self, tenant: &Tenant, content: String) -> String {
        let sealed = URL_SAFE_NO_PAD.encode(self.0.seal(tenant, content.into_bytes()));
        format!("{VERSION}{sealed}")
    }
}

impl Compaction {
    fn parse(opened: &[u8]) -> Option<Self> {
        let fields = Object::parse(opened).ok()?;
        if let Some(summary) = fields.string("summary") {
            return Some(Self::Summary(summary.into_owned()));
        }
        let origin = Origin::new(fields.string("origin")?.into_owned());
        let item = Item::parse(fields.get("item")?.to_owned().into()).ok()?;
        Some(Self::Foreign { origin, item })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = r#"{"id":"cmp_1", "type":"compaction","encrypted_content":"gAAA"}"#;

    fn key() -> CompactionKey {
        CompactionKey::new(&[7; 32])
    }

    fn alice() -> Tenant {
        Tenant::new("alice")
    }

    #[test]
    fn seal_opens_to_the_original_content() {
        let sealed = key().seal_summary(&alice(), "The user likes \"blue\".\n");
        let summary = Compaction::Summary("The user likes \"blue\".\n".into());
        assert_eq!(key().open(&alice(), &sealed), Ok(summary));
        let origin = Origin::new("host model");
        let sealed = key().seal_foreign(&alice(), &origin, ITEM);
        let item = Item::parse(ITEM.into()).unwrap();
        assert_eq!(key().open(&alice(), &sealed), Ok(Compaction::Foreign { origin, item }));
    }

    #[test]
    fn modified_seal_does_not_open() {
        let sealed = key().seal_summary(&alice(), "x");
        for at in VERSION.len()..sealed.len() {
            let mut touched = sealed.clone().into_bytes();
            touched[at] = if touched[at] == b'A' { b'B' } else { b'A' };
            let touched = String::from_utf8(touched).unwrap();
            assert_eq!(key().open(&alice(), &touched), Err(UnreadableSeal), "{at}");
            assert_eq!(key().open(&alice(), &sealed[..at]), Err(UnreadableSeal), "{at} characters");
        }
    }

    #[test]
    fn content_without_a_seal_is_unknown() {
        for content in ["gAAAAABm", "", "antiphon"] {
            assert_eq!(key().open(&alice(), content), Ok(Compaction::Unknown), "{content}");
        }
    }
}
