//! Event streams: the SSE codec, and the [`Assembler`], the only code that creates output items.
//!
//! `upstream_event` parses an event and classifies it (`vocabulary`). The `assembler` finds the
//! item that the event belongs to, and the `output_item` updates its state. The `emitter` numbers
//! the events for the client.
//!
//! ```
//! use antiphon::stream::Decoder;
//!
//! let mut decoder = Decoder::new(1 << 20);
//! decoder.push(b"event: response.created\ndata: {\"n\"");
//! assert!(decoder.next_frame().unwrap().is_none());
//! decoder.push(b":1}\n\n");
//! let frame = decoder.next_frame().unwrap().unwrap();
//! assert_eq!(frame.data, r#"{"n":1}"#);
//! ```

mod assembler;
mod emitter;
mod envelope;
mod fields;
mod lines;
mod obfuscation;
mod output_item;
mod reasoning_form;
mod sse;
mod tool_name;
mod upstream_event;
mod usage;
mod vocabulary;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use assembler::DeltaKind;
pub use assembler::{
    Assembler, Ending, Failure, Finished, Note, Output, Permission, Preface, Status, UsedIds,
};
pub use emitter::{Event, Form, queued};
pub use envelope::Envelope;
pub(crate) use lines::Lines;
pub use obfuscation::Obfuscation;
pub use reasoning_form::ReasoningForm;
pub use sse::{Decoder, Frame, TooLong};
pub use tool_name::ToolName;
pub use usage::Usage;
