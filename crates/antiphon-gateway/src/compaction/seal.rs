//! Encrypts the `encrypted_content` of compaction items.
//!
//! ```text
//! antiphon-compaction-1. | base64url(nonce, 12 bytes | content and tag)
//! ```
//!
//! The cipher is AES-256-GCM. The key is derived from the gateway's own ([`crate::secret`]). All
//! gateways on one store can open each other's seals, and seals stay valid if the operator changes
//! secrets. The version and the tenant are authenticated with the content, so no other tenant can
//! open it.

use antiphon::json::{Object, quote};
use antiphon::{IdSource, Item, Origin};
use antiphon_store::Tenant;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::entropy::RandomIds;

const VERSION: &str = "antiphon-compaction-1.";

/// Encrypts and decrypts compactions.
pub(crate) struct CompactionKey(LessSafeKey);

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

/// The content has the gateway's form, but the gateway did not seal it for this tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnreadableSeal;

impl CompactionKey {
    /// Creates the key from its bytes.
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let key = UnboundKey::new(&AES_256_GCM, key).expect("the key has the cipher's length");
        Self(LessSafeKey::new(key))
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
    pub(crate) fn open(
        &self,
        tenant: &Tenant,
        content: &str,
    ) -> Result<Compaction, UnreadableSeal> {
        let Some(sealed) = content.strip_prefix(VERSION) else {
            return Ok(Compaction::Unknown);
        };
        let sealed = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| UnreadableSeal)?;
        let (nonce, content) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(UnreadableSeal)?;
        let (nonce, mut content) = (Nonce::assume_unique_for_key(*nonce), content.to_vec());
        let opened = self.0.open_in_place(nonce, authenticated_data(tenant), &mut content);
        Compaction::parse(opened.map_err(|_| UnreadableSeal)?).ok_or(UnreadableSeal)
    }

    fn seal(&self, tenant: &Tenant, content: String) -> String {
        let mut nonce = [0; NONCE_LEN];
        RandomIds.fill(&mut nonce);
        let mut sealed = content.into_bytes();
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                authenticated_data(tenant),
                &mut sealed,
            )
            .expect("an item is shorter than what may be encrypted");
        let sealed = URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat());
        format!("{VERSION}{sealed}")
    }
}

/// The additional authenticated data of a seal.
fn authenticated_data(tenant: &Tenant) -> Aad<Vec<u8>> {
    Aad::from([VERSION.as_bytes(), tenant.as_str().as_bytes()].concat())
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
    fn seal_hides_its_content_and_never_repeats() {
        let seal = || key().seal_summary(&alice(), "The user likes blue.");
        assert!(!seal().contains("blue"));
        assert_ne!(seal(), seal());
    }

    #[test]
    fn other_tenants_and_keys_cannot_open_a_seal() {
        let sealed = key().seal_summary(&alice(), "x");
        assert_eq!(key().open(&Tenant::new("bob"), &sealed), Err(UnreadableSeal));
        assert_eq!(CompactionKey::new(&[8; 32]).open(&alice(), &sealed), Err(UnreadableSeal));
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
