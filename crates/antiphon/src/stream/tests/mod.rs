//! Tests of the assembler's output for given upstream events.

pub(crate) mod checker;
mod duplicates;
mod early;
mod endings;
mod envelope;
pub(crate) mod events;
mod forwarding;
pub(crate) mod generator;
mod ids;
mod laws;
pub(crate) mod mangler;
mod permission;
mod preface;
mod queued;
mod retry;
mod settling;
mod texts;
mod upstream_identity;
mod whole_response;
pub(crate) mod world;
