//! Secrets: never shown, and erased from memory when they are dropped.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// A key, a token or a secret of the operator. `Debug` does not show its text. Each copy is
/// overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself, for use in a header.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The key that signs messages to webhooks. `Debug` does not show it. Each copy is overwritten when
/// it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Zeroizing<Vec<u8>>);

/// The minimum and maximum length of a key, in bytes. Source: Standard Webhooks.
const KEY_LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

impl SigningSecret {
    /// Parses a key: `whsec_` and 24 to 64 bytes in base64. Returns `None` if `text` is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let key = Zeroizing::new(STANDARD.decode(text.strip_prefix("whsec_")?).ok()?);
        KEY_LENGTHS.contains(&key.len()).then_some(Self(key))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_secret_is_parsed_in_its_published_form() {
        let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        assert_eq!(secret.as_bytes().len(), 24);
        assert_eq!(format!("{secret:?}"), "SigningSecret(…)");
        for wrong in ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_AAAA", "whsec_?"] {
            assert_eq!(SigningSecret::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        assert_eq!(format!("{:?}", Secret::new("sk-secret")), "Secret(…)");
    }

    /// Compiles only if dropping a secret overwrites it.
    #[test]
    fn secrets_are_erased_when_dropped() {
        fn erases_on_drop<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        let SigningSecret(key) =
            SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        erases_on_drop(&Secret::new("sk-secret").0);
        erases_on_drop(&key);
    }
}
