//! The assembler, from outside: what clients get of what upstreams send.

pub(crate) mod checker;
mod duplicates;
mod early;
mod endings;
mod envelope;
mod events;
mod generator;
mod laws;
mod mangler;
mod names;
mod passing;
mod settling;
mod texts;
mod whole;
mod world;
