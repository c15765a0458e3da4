//! The native module of the Node package `antiphon`. It only converts values; the rules are in the
//! engine.

pub mod conversion;
pub mod items;
pub mod quote;
pub mod stateful;
mod text;
pub mod tracker;

use napi_derive::napi;

/// The package's version.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
