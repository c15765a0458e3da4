//! The request as an upstream gets it.

use antiphon::Item;
use antiphon::json::{Object, quote};
use bytes::Bytes;

use crate::request::{CreateRequest, ENCRYPTED, includes};

/// The body of the upstream's request: stateless, streamed, with this input. The caller's other
/// fields stand in it as they came; each item is copied once.
pub(super) fn encode(request: &CreateRequest, input: &[Item], encrypted: bool) -> Bytes {
    let mut fields = Object::parse(request.fields.as_bytes()).expect("the fields were parsed");
    for key in ["conversation", "previous_response_id", "background"] {
        fields.remove(key);
    }
    match include(&fields, encrypted) {
        Some(include) => fields.set("include", include),
        None => fields.remove("include"),
    }
    fields.set("store", "false");
    fields.set("stream", "true");
    with_input(&fields.to_text(), input)
}

/// The object `fields` with the array of items as its last field.
fn with_input(fields: &str, input: &[Item]) -> Bytes {
    let items: usize = input.iter().map(|item| item.raw().len() + 1).sum();
    let mut body = Vec::with_capacity(fields.len() + items + 16);
    let open = fields.strip_suffix('}').expect("an object ends with a brace");
    body.extend_from_slice(open.as_bytes());
    body.extend_from_slice(br#","input":["#);
    for (position, item) in input.iter().enumerate() {
        if position > 0 {
            body.push(b',');
        }
        body.extend_from_slice(item.raw());
    }
    body.extend_from_slice(b"]}");
    body.into()
}

/// What to include: as the caller asked, and encrypted reasoning where the model gives it.
fn include(fields: &Object<'_>, encrypted: bool) -> Option<String> {
    let mut includes = includes(fields).unwrap_or_default();
    includes.retain(|include| include != ENCRYPTED);
    if encrypted {
        includes.push(ENCRYPTED.to_owned());
    }
    let includes: Vec<String> = includes.iter().map(|include| quote(include)).collect();
    (!includes.is_empty()).then(|| format!("[{}]", includes.join(",")))
}
