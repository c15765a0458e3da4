//! The native module below the Node package `antiphon`: values in, values out, no rules.

pub mod companion;
pub mod conversion;
pub mod items;
pub mod quote;
mod text;
pub mod tracker;

use napi_derive::napi;

/// The package's version.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
