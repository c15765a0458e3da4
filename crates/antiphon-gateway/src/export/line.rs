//! A line of the export.

use antiphon::json::quote;
use antiphon::{Body, HeldItem};

/// A JSON object on one line, under construction.
pub(super) struct ExportLine(Vec<u8>);

impl ExportLine {
    /// Starts an object of this kind.
    pub(super) fn new(object: &str) -> Self {
        Self(format!(r#"{{"object":{}"#, quote(object)).into_bytes())
    }

    /// Starts with the fields of a complete object.
    pub(super) fn from_object(object: String) -> Self {
        let mut bytes = object.into_bytes();
        debug_assert_eq!(bytes.last(), Some(&b'}'), "an object ends");
        bytes.pop();
        Self(bytes)
    }

    /// Adds a string.
    pub(super) fn text(self, key: &str, text: &str) -> Self {
        self.raw(key, quote(text))
    }

    /// Adds JSON text unchanged.
    pub(super) fn raw(mut self, key: &str, json: impl AsRef<[u8]>) -> Self {
        self.0.extend_from_slice(format!(r#","{key}":"#).as_bytes());
        self.0.extend_from_slice(json.as_ref());
        self
    }

    /// Adds an item's id and its bytes, or the reason why it has none.
    pub(super) fn item(self, item: &HeldItem) -> Self {
        let line = self.text("id", item.id.as_str());
        match &item.body {
            Body::Stored(body) => line.raw("item", body),
            Body::StoredElsewhere => line.raw("kept_elsewhere", "true"),
            Body::Erased => line.raw("deleted", "true"),
        }
    }

    /// Finishes the line. Line ends between JSON tokens become blanks; within strings they are
    /// always escaped.
    pub(super) fn end(mut self) -> Vec<u8> {
        for byte in &mut self.0 {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        self.0.extend_from_slice(b"}\n");
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_of_many_lines_becomes_one() {
        let line =
            ExportLine::new("item").text("id", "a\nb").raw("item", "{\r\n  \"text\": \"c\\nd\"\n}");
        let expected = r#"{"object":"item","id":"a\nb","item":{    "text": "c\nd" }}"#;
        assert_eq!(String::from_utf8(line.end()).unwrap(), format!("{expected}\n"));
    }

    #[test]
    fn fields_are_added_to_a_complete_object() {
        let line = ExportLine::from_object(r#"{"id":"a"}"#.into()).raw("n", "1");
        assert_eq!(line.end(), b"{\"id\":\"a\",\"n\":1}\n");
    }
}
