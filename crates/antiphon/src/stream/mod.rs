//! Streams of events: the codec, and the one place where output items are made.
//!
//! An upstream's event is read (`heard`) by what it tells (`vocabulary`); the `assembler` finds
//! the item that it belongs to; the `output_item` takes it into its life; the `emitter` numbers
//! what clients are told.

mod assembler;
mod emitter;
mod envelope;
mod fields;
mod form;
mod heard;
mod lines;
mod obfuscation;
mod output_item;
mod queued;
mod sse;
mod tool_name;
mod vocabulary;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use assembler::Spoken;
pub use assembler::{
    Assembler, Ending, Failure, Finished, Note, Output, Permission, Preface, Status, Taken,
};
pub use emitter::Event;
pub use envelope::Envelope;
pub use form::Form;
pub(crate) use lines::Lines;
pub use obfuscation::Obfuscation;
pub use queued::queued;
pub use sse::{Decoder, Frame, TooLong};
pub use tool_name::ToolName;
