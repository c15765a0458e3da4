//! The `antiphon` command as its users meet it: its exit codes, sentences and signals.

#![allow(clippy::unwrap_used, reason = "a world that cannot be set up fails the test")]

mod precedence;
mod refusals;
mod serving;
mod world;
