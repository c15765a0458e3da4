//! JSON texts on their way in and out.

use bytes::Bytes;
use napi::bindgen_prelude::{Either, Uint8Array};
use serde::Serialize;

/// A text, or its bytes in UTF-8.
pub(crate) type Text = Either<String, Uint8Array>;

/// An error, and by which name Node tells it from others: its `code`.
pub(crate) type Error = napi::Error<&'static str>;

/// A copy of the text.
pub(crate) fn bytes_of(text: Text) -> Bytes {
    match text {
        Either::A(text) => text.into(),
        Either::B(bytes) => Bytes::copy_from_slice(&bytes),
    }
}

/// The text where it stands, for the time of one call: its owner writes to it afterwards.
pub(crate) fn bytes_for_now(text: Text) -> Bytes {
    match text {
        Either::A(text) => text.into(),
        Either::B(bytes) => Bytes::from_owner(bytes),
    }
}

pub(crate) fn json_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what is told is texts and numbers")
}

pub(crate) fn error(code: &'static str, reason: &impl ToString) -> Error {
    Error::new(code, reason.to_string())
}
