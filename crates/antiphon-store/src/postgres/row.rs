//! Converts columns to values.

use super::failure::Failure;

/// Reads a digest of 16 bytes.
pub(super) fn sixteen(bytes: &[u8]) -> Result<[u8; 16], Failure> {
    bytes.try_into().map_err(|_| Failure::unreadable("a digest that is not 16 bytes long"))
}

/// Reads a text that is stored as bytes.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes).map_err(|_| Failure::unreadable("a text that is not UTF-8"))
}
