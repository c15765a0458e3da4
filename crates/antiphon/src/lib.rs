//! Antiphon keeps an agent's conversation whole.

pub mod item;
pub mod json;
pub mod transcript;

pub use item::{CallId, Fingerprint, FingerprintKey, Head, IdSource, Item, ItemId, Kind, Role};
pub use transcript::{HeldItem, Origin};
