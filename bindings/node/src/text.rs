//! Conversion of JSON texts and errors.

use bytes::Bytes;
use napi::bindgen_prelude::{Either, Uint8Array};
use serde::Serialize;

/// A text, or its UTF-8 bytes.
pub(crate) type Text = Either<String, Uint8Array>;

/// An error with its `code`.
pub(crate) type Error = napi::Error<&'static str>;

/// A copy of the text.
pub(crate) fn bytes_of(text: Text) -> Bytes {
    match text {
        Either::A(text) => text.into(),
        Either::B(bytes) => Bytes::copy_from_slice(&bytes),
    }
}

/// The text without a copy, valid only during one call, because its owner overwrites it later.
pub(crate) fn borrowed_bytes(text: Text) -> Bytes {
    match text {
        Either::A(text) => text.into(),
        Either::B(bytes) => Bytes::from_owner(bytes),
    }
}

pub(crate) fn json_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers serialize to JSON")
}

pub(crate) fn error(code: &'static str, reason: &impl ToString) -> Error {
    Error::new(code, reason.to_string())
}
