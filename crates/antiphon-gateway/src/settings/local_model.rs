//! A model without a server.

use std::fmt;

use bytes::Bytes;

/// A model that answers inside the gateway's process. It is an upstream with the Responses API.
pub trait LocalModel: fmt::Debug + Send + Sync {
    /// The name of the model. No other upstream receives a request for this name.
    fn name(&self) -> &str;

    /// The context window, input and output together, in tokens.
    fn context_window(&self) -> u64;

    /// Answers an encoded request, which contains the whole context, with the pieces of an event
    /// stream.
    ///
    /// An error is the message of a response with status 400.
    fn respond(&self, request: &[u8]) -> Result<EventStream, String>;
}

/// The bytes of an event stream, in pieces of any length.
pub type EventStream = Box<dyn Iterator<Item = Bytes> + Send>;
