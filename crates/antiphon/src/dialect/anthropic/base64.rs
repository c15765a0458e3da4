//! Base64 with the standard alphabet (RFC 4648, section 4), as data URLs hold it.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Writes padding and reads what lacks it.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes that `text` stands for; `None` where it is no base64. Padding may be missing.
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
    fn padding_may_be_missing_and_is_written() {
        assert_eq!(encode(b"fo"), "Zm8=");
        for text in ["Zm8=", "Zm8", "Zm9="] {
            assert_eq!(decode(text).as_deref(), Some(&b"fo"[..]), "{text}");
        }
    }

    #[test]
    fn what_is_no_base64_is_told() {
        for text in ["Zg!=", "Z", "Zm9vZ", "ä"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
