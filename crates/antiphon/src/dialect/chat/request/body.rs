//! The body of a request.

use bytes::Bytes;

use crate::dialect::chat::fields::Fields;

/// The fields of the body, and the names of those that belong to the API.
pub(super) struct Body {
    fields: Fields,
    names: Vec<&'static str>,
}

impl Body {
    pub(super) fn new() -> Self {
        Self { fields: Fields::new(), names: Vec::new() }
    }

    /// Appends a field of the API.
    pub(super) fn raw(&mut self, name: &'static str, raw: &str) {
        self.fields.raw(name, raw);
        self.names.push(name);
    }

    /// Appends a field of the API if it has a value.
    pub(super) fn present(&mut self, name: &'static str, raw: Option<&str>) {
        if let Some(raw) = raw {
            self.raw(name, raw);
        }
    }

    /// Appends an unknown field.
    pub(super) fn unknown(&mut self, name: &str, raw: &str) {
        self.fields.raw(name, raw);
    }

    /// Whether the body has this field of the API.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    pub(super) fn into_bytes(mut self) -> Bytes {
        self.fields.json().into()
    }
}
