//! Tests of the writer through its public interface: the stream for clients of Chat Completions.

mod client;
mod endings;
mod history;
mod items;
mod laws;
mod order;
mod world;
