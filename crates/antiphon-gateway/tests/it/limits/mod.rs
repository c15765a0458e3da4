//! How much callers may send, hold open and ask for.

mod answers;
mod connections;
mod encodings;
mod json;
mod open_turns;
mod rate;
mod sizes;
mod slow;
