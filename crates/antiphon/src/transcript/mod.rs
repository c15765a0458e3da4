//! What a state owner holds of a conversation.

mod held;

pub use held::{HeldItem, Origin};
