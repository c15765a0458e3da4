//! Authenticated encryption, for data that must be readable only by the gateways of one store.
//!
//! ```text
//! nonce, 12 bytes | content and tag
//! ```
//!
//! The cipher is AES-256-GCM. The key is derived from the gateway's own ([`crate::secret`]). All
//! gateways on one store can open each other's seals, and seals stay valid if the operator changes
//! secrets. The purpose and the tenant are authenticated with the content, so no other tenant can
//! open it.

use antiphon::IdSource;
use antiphon_store::Tenant;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::entropy::RandomIds;

/// Encrypts and decrypts data of one purpose.
pub(crate) struct SealKey {
    key: LessSafeKey,
    /// The purpose and the version of the content's form.
    purpose: &'static str,
}

/// The data was modified, or was not sealed for this tenant and purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnreadableSeal;

impl SealKey {
    /// Creates the key from its bytes.
    pub(crate) fn new(key: &[u8; 32], purpose: &'static str) -> Self {
        let key = UnboundKey::new(&AES_256_GCM, key).expect("the key has the cipher's length");
        Self { key: LessSafeKey::new(key), purpose }
    }

    /// Encrypts `content` for this tenant.
    pub(crate) fn seal(&self, tenant: &Tenant, mut content: Vec<u8>) -> Vec<u8> {
        let mut nonce = [0; NONCE_LEN];
        RandomIds.fill(&mut nonce);
        self.key
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                self.authenticated_data(tenant),
                &mut content,
            )
            .expect("the content is shorter than the cipher's limit of 64 GiB");
        [&nonce[..], &content].concat()
    }

    /// Decrypts the content that was sealed for this tenant.
    pub(crate) fn open(&self, tenant: &Tenant, sealed: &[u8]) -> Result<Vec<u8>, UnreadableSeal> {
        let (nonce, content) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(UnreadableSeal)?;
        let (nonce, mut content) = (Nonce::assume_unique_for_key(*nonce), content.to_vec());
        let opened = self.key.open_in_place(nonce, self.authenticated_data(tenant), &mut content);
        let length = opened.map_err(|_| UnreadableSeal)?.len();
        content.truncate(length);
        Ok(content)
    }

    /// The additional authenticated data of a seal.
    fn authenticated_data(&self, tenant: &Tenant) -> Aad<Vec<u8>> {
        Aad::from([self.purpose.as_bytes(), tenant.as_str().as_bytes()].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SealKey {
        SealKey::new(&[7; 32], "tests-1.")
    }

    fn alice() -> Tenant {
        Tenant::new("alice")
    }

    #[test]
    fn seal_hides_its_content_and_never_repeats() {
        let seal = || key().seal(&alice(), b"The user likes blue.".to_vec());
        assert!(!seal().windows(4).any(|bytes| bytes == b"blue"));
        assert_ne!(seal(), seal());
        assert_eq!(key().open(&alice(), &seal()), Ok(b"The user likes blue.".to_vec()));
    }

    #[test]
    fn other_tenants_keys_and_purposes_cannot_open_a_seal() {
        let sealed = key().seal(&alice(), b"x".to_vec());
        let other_key = SealKey::new(&[8; 32], "tests-1.");
        let other_purpose = SealKey::new(&[7; 32], "tests-2.");
        assert_eq!(key().open(&Tenant::new("bob"), &sealed), Err(UnreadableSeal));
        assert_eq!(other_key.open(&alice(), &sealed), Err(UnreadableSeal));
        assert_eq!(other_purpose.open(&alice(), &sealed), Err(UnreadableSeal));
    }

    #[test]
    fn modified_seal_does_not_open() {
        let sealed = key().seal(&alice(), b"x".to_vec());
        for at in 0..sealed.len() {
            let mut modified = sealed.clone();
            modified[at] ^= 1;
            assert_eq!(key().open(&alice(), &modified), Err(UnreadableSeal), "{at}");
            assert_eq!(key().open(&alice(), &sealed[..at]), Err(UnreadableSeal), "{at} bytes");
        }
    }
}
