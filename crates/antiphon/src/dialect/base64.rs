//! Base64 with the standard alphabet (RFC 4648, section 4), as data URLs hold it.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Encodes with padding, and decodes with or without it.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Decodes `text`; `None` if it is not base64. Padding is optional.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    ENGINE.decode(text).ok()
}

/// `bytes` as base64, with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    ENGINE.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_accepts_missing_padding_and_encode_pads() {
        assert_eq!(encode(b"fo"), "Zm8=");
        for text in ["Zm8=", "Zm8", "Zm9="] {
            assert_eq!(decode(text).as_deref(), Some(&b"fo"[..]), "{text}");
        }
    }

    #[test]
    fn invalid_base64_is_rejected() {
        for text in ["Zg!=", "Z", "Zm9vZ", "ä"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
