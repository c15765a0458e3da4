//! Encrypted reasoning in `reasoning_details`, the field in which clients of Chat Completions
//! return reasoning.
//!
//! Source: OpenRouter's documentation of `reasoning_details`. An entry with encrypted reasoning has
//! the type `reasoning.encrypted`, and its `format` names the owner of the `data`.

use super::fields::Fields;
use crate::dialect::Seal;
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// The format of an entry with the `encrypted_content` of an item.
const FORMAT: &str = "antiphon-v1";

const TYPE: &str = "reasoning.encrypted";

/// The entry for a reasoning item with this raw id and this raw `encrypted_content`. OpenAI's
/// clients require the `index` of an entry to assemble a stream.
pub(super) fn sealed_detail(id: Option<&str>, encrypted: &str, index: usize) -> String {
    let mut detail = Fields::with_type(TYPE);
    detail.present("id", id).raw("data", encrypted).string("format", FORMAT);
    detail.raw("index", &index.to_string()).json()
}

/// Whether it is such an entry.
pub(super) fn is_sealed(detail: &Object<'_>) -> bool {
    detail.string("type").as_deref() == Some(TYPE)
        && detail.string("format").as_deref() == Some(FORMAT)
}

/// The reasoning item of such an entry, for `origin`; `None` for any other entry. Content that
/// `origin` encrypted itself loses its seal.
pub(super) fn reasoning_item(detail: &Object<'_>, origin: Option<&Origin>) -> Option<String> {
    let data = detail.string("data").filter(|_| is_sealed(detail))?;
    let own = Seal::parse(&data).zip(origin).and_then(|(seal, origin)| seal.encrypted_by(origin));
    let encrypted = quote(own.as_deref().unwrap_or(&data));
    let mut item = Fields::with_type("reasoning");
    item.present("id", detail.present("id")).raw("summary", "[]");
    Some(item.raw("encrypted_content", &encrypted).json())
}
