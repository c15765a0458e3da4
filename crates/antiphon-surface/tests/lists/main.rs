//! What comes back of a list, whatever it holds.

mod laws;
mod texts;
