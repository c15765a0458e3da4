//! An Anthropic server, from outside: what the assembler is told of what it sends.

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
