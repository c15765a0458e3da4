//! The body of a request as it is written.

use bytes::Bytes;

use crate::dialect::chat::fields::Fields;

/// The request's fields, and which they are.
pub(super) struct Body {
    fields: Fields,
    names: Vec<&'static str>,
}

impl Body {
    pub(super) fn new() -> Self {
        Self { fields: Fields::new(), names: Vec::new() }
    }

    /// Appends a field of the dialect.
    pub(super) fn raw(&mut self, name: &'static str, raw: &str) {
        self.fields.raw(name, raw);
        self.names.push(name);
    }

    /// Appends a field of the dialect where it has a value.
    pub(super) fn present(&mut self, name: &'static str, raw: Option<&str>) {
        if let Some(raw) = raw {
            self.raw(name, raw);
        }
    }

    /// Appends a field that nobody here knows.
    pub(super) fn unknown(&mut self, name: &str, raw: &str) {
        self.fields.raw(name, raw);
    }

    /// Whether a field of the dialect is written.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    pub(super) fn into_bytes(mut self) -> Bytes {
        self.fields.json().into()
    }
}
