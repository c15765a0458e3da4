//! Content blocks.

use crate::json::unquote;

/// A content block of a message.
#[derive(Clone, Debug)]
pub(super) enum Block {
    /// Text that is not blank, as a raw JSON string.
    Text(String),
    /// A `thinking` or `redacted_thinking` block as the model wrote it, and its item's position.
    Thinking { raw: String, position: usize },
    /// Any other block, raw.
    Other(String),
}

impl Block {
    /// The text block for a raw JSON string; `None` if the text is blank, because Anthropic rejects
    /// such a block ("text content blocks must be non-empty", "… must contain non-whitespace
    /// text").
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

/// Whether a raw JSON string holds only white space.
pub(super) fn is_blank(raw: &str) -> bool {
    let begins_with_a_letter = raw.as_bytes().get(1).is_some_and(u8::is_ascii_graphic);
    if begins_with_a_letter && !matches!(raw.as_bytes()[1], b'"' | b'\\') {
        return false;
    }
    unquote(raw).is_some_and(|text| text.trim().is_empty())
}
