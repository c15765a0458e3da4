//! A content block.

use crate::json::unquote;

/// A content block of a message.
#[derive(Clone, Debug)]
pub(super) enum Block {
    /// Text, as a raw JSON string that is not blank.
    Text(String),
    /// `thinking` or `redacted_thinking`, as the model wrote it, with the position of its item.
    Thinking { raw: String, position: usize },
    /// Any other block, raw.
    Other(String),
}

impl Block {
    /// The text block of a raw JSON string; `None` where it is blank: Anthropic refuses such a
    /// block ("text content blocks must be non-empty", "… must contain non-whitespace text").
    pub(super) fn text(raw: &str) -> Option<Self> {
        (!is_blank(raw)).then(|| Self::Text(raw.to_owned()))
    }

    pub(super) fn write(&self, json: &mut String) {
        match self {
            Self::Text(raw) => {
                json.push_str(r#"{"type":"text","text":"#);
                json.push_str(raw);
                json.push('}');
            }
            Self::Thinking { raw, .. } | Self::Other(raw) => json.push_str(raw),
        }
    }
}

/// Appends an array of blocks.
pub(super) fn write_all<'a>(blocks: impl IntoIterator<Item = &'a Block>, json: &mut String) {
    json.push('[');
    for (position, block) in blocks.into_iter().enumerate() {
        if position > 0 {
            json.push(',');
        }
        block.write(json);
    }
    json.push(']');
}

/// Whether a raw JSON string holds nothing but white space.
pub(super) fn is_blank(raw: &str) -> bool {
    let begins_with_a_letter = raw.as_bytes().get(1).is_some_and(u8::is_ascii_graphic);
    if begins_with_a_letter && !matches!(raw.as_bytes()[1], b'"' | b'\\') {
        return false;
    }
    unquote(raw).is_some_and(|text| text.trim().is_empty())
}
