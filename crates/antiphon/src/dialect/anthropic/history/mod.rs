//! The way back: a conversation in Anthropic messages as items.

mod block;
mod media;
mod message;
#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use self::message::Message;
use crate::item::Item;
use crate::transcript::Origin;

/// Why a conversation is none in Anthropic's form. Places are named as Anthropic names them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// `messages` is no array.
    #[error("messages: {reason}")]
    NotMessages {
        /// Why.
        reason: String,
    },
    /// `system` is neither a text nor text blocks.
    #[error("system: {reason}")]
    System {
        /// Why.
        reason: String,
    },
    /// A message that is none.
    #[error("messages.{message}: {reason}")]
    Message {
        /// Which one, from 0.
        message: usize,
        /// Why.
        reason: String,
    },
    /// A content block that is none.
    #[error("messages.{message}.content.{block}: {reason}")]
    Block {
        /// In which message, from 0.
        message: usize,
        /// Which of its blocks, from 0.
        block: usize,
        /// Why.
        reason: String,
    },
}

/// The items that say what `messages` (a JSON array) and `system` (a JSON string, or an array of
/// text blocks) say, in order.
///
/// | block | item |
/// |---|---|
/// | `text`, `image`, `document` | parts of a message; what stands side by side is one message |
/// | `tool_use` | `function_call`, its input as the arguments, byte for byte |
/// | `tool_result` | `function_call_output`, a text or parts |
/// | `thinking` | `reasoning` |
/// | any other | an extension item: `{"type":"anthropic:…","content":<the block>}` |
///
/// With an `origin` (who made the assistant's messages) thinking is sealed, redacted thinking too,
/// and goes back there; without one the text alone is kept, and a redacted block is an extension
/// item. An extension item of a user's message has the `role` `user`.
///
/// Items have no ids. Lost are `cache_control`, citations, and whether a result is an error: items
/// have no place for them. Linear; every item is written once.
pub fn items_of(
    messages: &[u8],
    system: Option<&[u8]>,
    origin: Option<&Origin>,
) -> Result<Vec<Item>, HistoryError> {
    items_and_sources(messages, system, origin).map(|(items, _)| items)
}

/// The same, and for each item the position of its message; `None` for the item of `system`.
pub(crate) fn items_and_sources(
    messages: &[u8],
    system: Option<&[u8]>,
    origin: Option<&Origin>,
) -> Result<(Vec<Item>, Vec<Option<usize>>), HistoryError> {
    let mut items = Vec::new();
    if let Some(system) = system {
        items.extend(message::instructions(system)?);
    }
    let mut sources = vec![None; items.len()];
    let messages: Vec<&RawValue> = serde_json::from_slice(messages)
        .map_err(|error| HistoryError::NotMessages { reason: error.to_string() })?;
    for (number, raw) in messages.iter().enumerate() {
        Message::new(number, origin, &mut items).read(raw.get())?;
        sources.resize(items.len(), Some(number));
    }
    Ok((items, sources))
}
