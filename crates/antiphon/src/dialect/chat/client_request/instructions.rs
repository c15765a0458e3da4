//! The instructions at the start of the messages.

use super::RequestDecoder;
use super::field::Field;
use crate::dialect::chat::fields::join;
use crate::json::{Object, objects};

/// Writes the texts of the system and developer messages at the start as `instructions`, joined by
/// blank lines, as the encoder joins such messages. Returns the number of these messages.
///
/// A client sends its instructions with every request, so they are no items: a conversation would
/// store them again whenever they change. A message with other fields than its text (a
/// `cache_control`) stays an item, and so do the messages after it.
pub(super) fn decode(messages: &[Field<'_>], decoder: &mut RequestDecoder) -> usize {
    let texts: Vec<String> = messages.iter().map_while(instruction).collect();
    if !texts.is_empty() {
        decoder.set_raw("instructions", join(texts.iter().map(String::as_str), r"\n\n"));
    }
    texts.len()
}

/// The text of a message with instructions: a raw JSON string.
fn instruction(message: &Field<'_>) -> Option<String> {
    let message = Object::parse_str(message.raw()).ok()?;
    message.string("role").filter(|role| matches!(&**role, "system" | "developer"))?;
    let content = message.present("content")?;
    if content.starts_with('"') {
        return Some(content.to_owned());
    }
    let texts: Option<Vec<String>> = objects(content).iter().map(plain_text).collect();
    Some(join(texts?.iter().map(String::as_str), r"\n\n"))
}

/// The raw text of a part that has nothing else.
fn plain_text(part: &Object<'_>) -> Option<String> {
    let is_text = part.string("type").as_deref() == Some("text");
    let has_others = part.iter().any(|(key, raw)| !matches!(key, "type" | "text") && raw != "null");
    let text = part.get("text").filter(|raw| raw.starts_with('"') && is_text && !has_others)?;
    Some(text.to_owned())
}
