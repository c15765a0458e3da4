//! Antiphon keeps an agent's conversation whole.

pub mod faults;
pub mod item;
pub mod json;
pub mod reconcile;
pub mod repair;
pub mod run;
pub mod stream;
pub mod tracker;
pub mod transcript;

pub use item::{CallId, Fingerprint, FingerprintKey, Head, IdSource, Item, ItemId, Kind, Role};
pub use transcript::{HeldItem, Origin, Transcript};
