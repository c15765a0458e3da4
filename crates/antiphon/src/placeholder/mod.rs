//! Placeholder outputs for unanswered calls, and the real outputs that arrive later.
//!
//! A provider that stores a conversation refuses every further turn until each call has an output.
//! So an unanswered call gets a placeholder that states that no output was recorded. If the real
//! output arrives later, it replaces the placeholder if the provider can delete items. Otherwise a
//! user message carries it.
//!
//! ```
//! use antiphon::Item;
//! use antiphon::placeholder::{is_placeholder_item, late_output_message};
//! use antiphon::repair::repair;
//!
//! let call = r#"{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}"#;
//! let repaired = repair(&[Item::parse(call.into()).unwrap()]);
//! assert!(is_placeholder_item(&repaired.items[1]));
//!
//! let late = r#"{"type":"function_call_output","call_id":"call_1","output":"20 degrees"}"#;
//! let message = late_output_message(&Item::parse(late.into()).unwrap()).unwrap();
//! assert!(message.text().contains("20 degrees"));
//! ```

mod late;
mod output;
#[cfg(test)]
mod tests;

pub use late::{LateOutput, late_output_message};
pub(crate) use output::{is_placeholder, placeholder};

use crate::item::Item;

/// Whether Antiphon created the item: a placeholder output, or a message that carries a late
/// output.
///
/// Used for items that a provider lists, to give them
/// [Antiphon's origin](crate::Origin::placeholder).
pub fn is_placeholder_item(item: &Item) -> bool {
    is_placeholder(item) || late::is_carrier(item)
}
