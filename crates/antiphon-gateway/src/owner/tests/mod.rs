//! Tests against a strict provider, and the environment of all tests of this module.

mod strict;
pub(super) mod world;
