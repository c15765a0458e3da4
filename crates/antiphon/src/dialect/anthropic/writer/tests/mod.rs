//! The writer, from outside: what Anthropic's clients get.

mod client;
mod endings;
mod items;
mod laws;
mod order;
mod world;
