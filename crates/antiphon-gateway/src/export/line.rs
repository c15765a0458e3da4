//! A line of the export.

use antiphon::item::{CallId, Head, ItemId, Role, push_hex};
use antiphon::json::quote;
use antiphon::{Body, HeldItem, Origin};
use antiphon_store::{ConversationId, ResponseRecord, Seq, ThreadRecord};

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

    /// Adds a field that is present only if it is true.
    pub(super) fn flag(self, key: &str, is_set: bool) -> Self {
        if is_set { self.raw(key, "true") } else { self }
    }

    /// Adds a string, if there is one.
    fn optional(self, key: &str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(key, text),
            None => self,
        }
    }

    /// Adds an item's id, its position and its bytes, or the reason why it has none.
    pub(super) fn item(self, at: Option<Seq>, item: &HeldItem) -> Self {
        let mut line = self.text("id", item.id.as_str());
        if let Some(at) = at {
            line = line.raw("at", at.to_string());
        }
        line = line.optional("origin", item.origin.as_ref().map(Origin::as_str));
        line = line.flag("supersedes", item.supersedes);
        match &item.body {
            Body::Stored(body) => line.raw("item", body),
            Body::StoredElsewhere => line.raw("kept_elsewhere", "true").head(&item.head),
            Body::Erased => line.raw("deleted", "true").head(&item.head),
        }
    }

    /// Adds the head of an item without bytes.
    fn head(self, head: &Head) -> Self {
        let Self(kind) = Self(format!(r#"{{"type":{}"#, quote(head.kind.as_str())).into_bytes())
            .optional("id", head.id.as_ref().map(ItemId::as_str))
            .optional("call_id", head.call_id.as_ref().map(CallId::as_str))
            .optional("role", head.role.map(role_name))
            .flag("unfinished", head.unfinished)
            .flag("encrypted", head.encrypted);
        self.raw("head", [&kind[..], b"}"].concat())
    }

    /// The line of a thread.
    pub(super) fn from_thread(record: &ThreadRecord) -> Self {
        let lineage = record.lineage.iter();
        let lineage: Vec<String> =
            lineage.map(|(id, upto)| format!(r#"["{}",{upto}]"#, hex(id.0))).collect();
        Self::new("thread")
            .text("shard", &hex(record.shard.0))
            .text("id", &hex(record.thread.0))
            .raw("tip", record.tip.to_string())
            .raw("named", record.is_named.to_string())
            .raw("lineage", format!("[{}]", lineage.join(",")))
    }

    /// The line with the positions of a response.
    pub(super) fn from_range(record: &ResponseRecord) -> Self {
        let response = &record.response;
        Self::new("response.range")
            .text("response", response.id.as_str())
            .optional("conversation", response.conversation.as_ref().map(ConversationId::as_str))
            .raw("created_at", response.created_at.to_string())
            .raw("input", record.input.start.to_string())
            .raw("output", record.output.start.to_string())
            .raw("end", record.output.end.to_string())
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

/// The 16 hexadecimal digits of a shard or a thread.
fn hex(number: u64) -> String {
    let mut text = String::with_capacity(16);
    push_hex(&mut text, &number.to_be_bytes());
    text
}

/// The text that [`Role::parse`] reads back.
fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Developer => "developer",
        Role::Other => "other",
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
