//! Writes JSON objects and arrays.

use crate::json::push_quoted;

/// A JSON object that is written field by field. Values are raw JSON.
pub(super) struct Fields {
    text: String,
}

impl Fields {
    /// An empty object.
    pub(super) fn new() -> Self {
        Self { text: "{".into() }
    }

    /// An object with this `type`.
    pub(super) fn with_type(name: &str) -> Self {
        let mut fields = Self::new();
        fields.string("type", name);
        fields
    }

    /// Appends a field, which the object must not have yet.
    pub(super) fn raw(&mut self, name: &str, raw: &str) -> &mut Self {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        push_quoted(&mut self.text, name);
        self.text.push(':');
        self.text.push_str(raw);
        self
    }

    /// Appends a field if it has a value.
    pub(super) fn present(&mut self, name: &str, raw: Option<&str>) -> &mut Self {
        if let Some(raw) = raw {
            self.raw(name, raw);
        }
        self
    }

    /// Appends a string.
    pub(super) fn string(&mut self, name: &str, text: &str) -> &mut Self {
        self.raw(name, "");
        push_quoted(&mut self.text, text);
        self
    }

    /// Appends these fields unchanged.
    pub(super) fn all<'a>(
        &mut self,
        fields: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> &mut Self {
        for (name, raw) in fields {
            self.raw(name, raw);
        }
        self
    }

    /// The object as JSON text.
    pub(super) fn json(&mut self) -> String {
        let mut text = std::mem::take(&mut self.text);
        text.push('}');
        text
    }
}

/// A JSON array of raw elements.
pub(super) fn array<S: AsRef<str>>(elements: impl IntoIterator<Item = S>) -> String {
    let mut text = String::from("[");
    for element in elements {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(element.as_ref());
    }
    text.push(']');
    text
}

/// Joins raw JSON strings into one, with `between` (escaped) as the separator. Skips empty strings.
pub(super) fn join<'a>(strings: impl IntoIterator<Item = &'a str>, between: &str) -> String {
    let mut text = String::from("\"");
    for string in strings {
        let escaped = &string[1..string.len() - 1];
        if text.len() > 1 && !escaped.is_empty() {
            text.push_str(between);
        }
        text.push_str(escaped);
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_holds_only_written_fields() {
        let mut fields = Fields::with_type("text");
        fields.string("text", "a\"b").present("none", None).present("some", Some("1e2"));
        assert_eq!(fields.json(), r#"{"type":"text","text":"a\"b","some":1e2}"#);
        assert_eq!(Fields::new().json(), "{}");
    }

    #[test]
    fn join_keeps_escapes() {
        let strings = [r#""a\n""#, r#""""#, r#""\u00e9""#];
        assert_eq!(join(strings, r"\n\n"), r#""a\n\n\n\u00e9""#);
        assert_eq!(join([], r"\n"), r#""""#);
    }
}
