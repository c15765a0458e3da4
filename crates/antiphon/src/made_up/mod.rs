//! What is made up where the real thing is missing, and what becomes of the real thing when it comes.
//!
//! A provider that keeps a conversation refuses every turn of it until each call has an output. So a
//! call that nobody answered is answered with an output that says that there is none. Tools are slow
//! and clients come back: when the real output comes, it takes the place of the made-up one where
//! the provider deletes items, and is told in a message where it does not.

mod late;
mod silence;
#[cfg(test)]
mod tests;

pub use late::{LateOutput, message_of_late_output};
pub(crate) use silence::{is_silence, silence};

use crate::item::Item;

/// Whether the item says what only Antiphon makes up: an output that says that there is none, or a
/// message that carries a late output. Who learns from a provider what a conversation holds knows by
/// it which items to hold as [made up](crate::Origin::made_up).
pub fn is_made_up(item: &Item) -> bool {
    is_silence(item) || late::is_message_of_late_output(item)
}
