//! Encrypted reasoning in `reasoning_details`, the field in which clients of Chat Completions return
//! reasoning.
//!
//! Source: OpenRouter's documentation of `reasoning_details`. An entry with encrypted reasoning has
//! the type `reasoning.encrypted`, and its `format` names the owner of the `data`.

use super::fields::Fields;
use crate::json::Object;

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

/// The reasoning item of such an entry; `None` for any other entry.
pub(super) fn reasoning_item(detail: &Object<'_>) -> Option<String> {
    let is_sealed = detail.string("type").as_deref() == Some(TYPE)
        && detail.string("format").as_deref() == Some(FORMAT);
    let encrypted = detail.get("data").filter(|raw| is_sealed && raw.starts_with('"'))?;
    let mut item = Fields::with_type("reasoning");
    item.present("id", detail.present("id")).raw("summary", "[]");
    Some(item.raw("encrypted_content", encrypted).json())
}
