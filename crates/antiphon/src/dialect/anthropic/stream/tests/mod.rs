//! Tests of the decoder through its public interface: an Anthropic server's events, and the output.

mod calls;
mod citations;
mod endings;
mod extensions;
pub(crate) mod generator;
mod laws;
mod text;
mod thinking;
mod whole;
pub(crate) mod world;
