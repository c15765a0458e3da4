//! The assembler, from outside: what clients get of what upstreams send.

mod anew;
pub(crate) mod checker;
mod duplicates;
mod early;
mod endings;
mod envelope;
pub(crate) mod events;
pub(crate) mod generator;
mod kept;
mod laws;
pub(crate) mod mangler;
mod names;
mod passing;
mod permission;
mod preface;
mod queued;
mod settling;
mod texts;
mod whole;
pub(crate) mod world;
