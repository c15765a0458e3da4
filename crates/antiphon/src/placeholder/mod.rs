//! Placeholder outputs for unanswered calls, and the real outputs that arrive later.
//!
//! A provider that stores a conversation refuses every further turn until each call has an output.
//! So an unanswered call gets a placeholder that states that no output was recorded. If the real
//! output arrives later, it replaces the placeholder if the provider can delete items. Otherwise a
//! user message carries it.

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
/// Used for items that a provider lists, to give them [Antiphon's origin](crate::Origin::made_up).
pub fn is_placeholder_item(item: &Item) -> bool {
    is_placeholder(item) || late::is_carrier(item)
}
