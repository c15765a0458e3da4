//! The request as an upstream gets it.

use antiphon::Item;
use antiphon::json::{Object, quote};
use bytes::Bytes;

use crate::request::{CreateRequest, ENCRYPTED, includes};

/// The fields of a request as an upstream gets them: stateless, streamed, with this input.
pub(super) fn encode(request: &CreateRequest, input: &[Item], encrypted: bool) -> Bytes {
    let mut fields = Object::parse(request.fields.as_bytes()).expect("the fields were parsed");
    for key in ["conversation", "previous_response_id", "background"] {
        fields.remove(key);
    }
    let include = include_of(&fields, encrypted);
    fields.remove("include");
    if include != "[]" {
        fields.set("include", include);
    }
    fields.set("store", "false");
    fields.set("stream", "true");
    fields.set("input", array_of(input));
    fields.to_bytes()
}

fn include_of(fields: &Object<'_>, encrypted: bool) -> String {
    let mut includes = includes(fields).unwrap_or_default();
    includes.retain(|include| include != ENCRYPTED);
    if encrypted {
        includes.push(ENCRYPTED.to_owned());
    }
    let includes: Vec<String> = includes.iter().map(|include| quote(include)).collect();
    format!("[{}]", includes.join(","))
}

fn array_of(items: &[Item]) -> String {
    let length: usize = items.iter().map(|item| item.raw().len() + 1).sum();
    let mut array = String::with_capacity(length + 2);
    array.push('[');
    for (position, item) in items.iter().enumerate() {
        array.push_str(if position > 0 { "," } else { "" });
        array.push_str(item.text());
    }
    array.push(']');
    array
}
