//! Converts a conversation from Anthropic messages into items.

mod block;
mod media;
mod message;
#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use self::message::Message;
use crate::item::Item;
use crate::transcript::Origin;

/// An error in a conversation of Anthropic messages. Paths have the form that Anthropic uses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnthropicHistoryError {
    /// `messages` is not an array.
    #[error("messages: {reason}")]
    NotMessages {
        /// The reason.
        reason: String,
    },
    /// `system` is neither a string nor an array of text blocks.
    #[error("system: {reason}")]
    System {
        /// The reason.
        reason: String,
    },
    /// A message is invalid.
    #[error("messages.{message}: {reason}")]
    Message {
        /// The position of the message, from 0.
        message: usize,
        /// The reason.
        reason: String,
    },
    /// A content block is invalid.
    #[error("messages.{message}.content.{block}: {reason}")]
    Block {
        /// The position of the message, from 0.
        message: usize,
        /// The position of the block in the message, from 0.
        block: usize,
        /// The reason.
        reason: String,
    },
}

/// Converts `messages` (a JSON array) and `system` (a JSON string, or an array of text blocks) into
/// items, in order.
///
/// | block | item |
/// |---|---|
/// | `text`, `image`, `document` | parts of a message; adjacent blocks become one message |
/// | `tool_use` | `function_call` with the bytes of its input as the arguments |
/// | `tool_result` | `function_call_output`: a string or parts |
/// | `thinking` | `reasoning` |
/// | any other | an extension item: `{"type":"anthropic:…","content":<the block>}` |
///
/// `origin` names the provider and model of the assistant's messages. With an `origin`, `thinking`
/// and `redacted_thinking` blocks are sealed, so that the encoder can return them to that origin.
/// Without one, only the text of `thinking` is kept, and `redacted_thinking` becomes an extension
/// item. An extension item from a user's message has the `role` `user`.
///
/// The items have no ids. `cache_control`, citations and `is_error` of a result are lost, because
/// items have no field for them. Takes linear time, and writes each item once.
pub fn parse_items(
    messages: &[u8],
    system: Option<&[u8]>,
    origin: Option<&Origin>,
) -> Result<Vec<Item>, AnthropicHistoryError> {
    parse_items_with_sources(messages, system, origin).map(|(items, _)| items)
}

/// Like [`parse_items`], with the position of each item's message; `None` for the item of `system`.
pub(crate) fn parse_items_with_sources(
    messages: &[u8],
    system: Option<&[u8]>,
    origin: Option<&Origin>,
) -> Result<(Vec<Item>, Vec<Option<usize>>), AnthropicHistoryError> {
    let mut items = Vec::new();
    if let Some(system) = system {
        items.extend(message::instructions(system)?);
    }
    let mut sources = vec![None; items.len()];
    let messages: Vec<&RawValue> = serde_json::from_slice(messages)
        .map_err(|error| AnthropicHistoryError::NotMessages { reason: error.to_string() })?;
    for (number, raw) in messages.iter().enumerate() {
        Message::new(number, origin, &mut items).read(raw.get())?;
        sources.resize(items.len(), Some(number));
    }
    Ok((items, sources))
}
