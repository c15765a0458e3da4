//! The API keys for callers.

use std::fmt;

use antiphon_store::Tenant;
use ring::digest::{SHA256, digest};

/// An API key, stored as its hash, with its tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// The hash of the key.
    pub hash: KeyHash,
    /// The tenant whose data the key gives access to.
    pub tenant: Tenant,
}

impl ApiKey {
    /// Creates an entry for this key. Stores only its hash.
    pub fn new(key: &str, tenant: Tenant) -> Self {
        Self { hash: KeyHash::from_key(key), tenant }
    }
}

/// The SHA-256 of a key. Its text form is `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The hash of this key.
    pub fn from_key(key: &str) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, key.as_bytes()).as_ref());
        Self(hash)
    }

    /// Parses the text form; `None` if `text` is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let is_hash = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let digits = is_hash.then_some(digits)?;
        let mut hash = [0; 32];
        for (at, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * at..][..2], 16).ok()?;
        }
        Some(Self(hash))
    }

    /// Whether `text` has the prefix of a hash, valid or not.
    pub fn has_prefix(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

const PREFIX: &str = "sha256:";

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Hides the hash: an attacker could use it to guess a weak key.
impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the one-block example of FIPS 180-4's test vectors.
    const OF_ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn hash_round_trips() {
        let hash = KeyHash::from_key("abc");
        assert_eq!(hash.to_string(), OF_ABC);
        assert_eq!(KeyHash::parse(OF_ABC), Some(hash));
        assert_eq!(KeyHash::parse(&OF_ABC.replace("ba78", "BA78")), Some(hash));
    }

    #[test]
    fn malformed_hash_is_rejected() {
        for text in ["abc", "sha256:", &OF_ABC[..70], &OF_ABC.replace('f', "g")] {
            assert_eq!(KeyHash::parse(text), None, "{text}");
        }
    }
}
