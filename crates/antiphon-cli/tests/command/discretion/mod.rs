//! Keys, tokens and what items say never appear in logs or in errors of ours.
//!
//! Whatever is secret here says `sesame`. Each gateway logs all it can.

mod disk;
mod refusals;
mod secrets;
mod turns;
mod upstream_key;
