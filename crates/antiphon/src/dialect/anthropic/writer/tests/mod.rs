//! Tests of the writer through its public interface: the stream for Anthropic's clients.

mod client;
mod endings;
mod items;
mod laws;
mod order;
mod world;
