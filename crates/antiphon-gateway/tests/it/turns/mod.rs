//! What one turn, and the next, give the model.

mod bytes;
mod request;
mod three_turns;
