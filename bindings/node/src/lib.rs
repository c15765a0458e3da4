//! The native module below the Node package `antiphon`: values in, values out, no rules.

mod companion;

use napi_derive::napi;

/// The package's version.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
