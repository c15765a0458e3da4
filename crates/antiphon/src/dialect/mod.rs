//! Dialects: the languages that upstreams and clients speak, and how one becomes another.
//!
//! Between all of them stands the Responses API's own vocabulary: items on the way in, and on the way
//! out an [`Assembler`](crate::stream::Assembler), which alone makes items and events.
//!
//! ```text
//!   request:  items and fields ── encode ──> an upstream's request
//!   answer:   an upstream's stream ── Listener ──> Assembler ── Writer ──> a client's stream
//! ```
//!
//! - [`encode`]: a request in an upstream's dialect. What it cannot carry is an [`Unsupported`] error
//!   or a reported [`Omission`], never silence.
//! - [`Listener`]: hears an upstream's stream in its dialect and tells an assembler.
//! - [`Writer`]: writes what the assembler made, in a client's dialect.
//! - [`Conversion`]: a listener, an assembler and a writer in one: bytes in, bytes out.
//! - [`Seal`]: a provider's reasoning in `encrypted_content`, on its way back to where it was made.

mod ai_sdk;
/// Anthropic's Messages API.
pub mod anthropic;
mod asked;
mod chat;
mod conversion;
mod listener;
mod request;
mod responses;
mod seal;
mod usage;
mod writer;

pub use asked::Asked;
pub use chat::{history as chat_history, with_reasoning_stood_in};
pub use conversion::{Conversion, ConversionError, Converted};
pub use listener::Listener;
pub use request::{Encoded, Omission, Place, Request, Unsupported, encode};
pub use seal::Seal;
pub use writer::Writer;

use std::fmt;
use std::str::FromStr;

/// A language of model servers, or of their clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenAI's Responses API, and Open Responses.
    Responses,
    /// Chat Completions, as OpenAI, vLLM, SGLang, Ollama, llama.cpp, Azure and others serve it.
    Chat,
    /// Anthropic's Messages API.
    Anthropic,
    /// Stream parts of the AI SDK, of a model or of a `fullStream`. Not a server's.
    AiSdk,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 4] = [Self::Responses, Self::Chat, Self::Anthropic, Self::AiSdk];

    /// Its name, in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Anthropic => "anthropic",
            Self::AiSdk => "ai-sdk",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        let named = Self::ALL.into_iter().find(|dialect| dialect.name() == name);
        named.ok_or_else(|| UnknownDialect { name: name.to_owned() })
    }
}

/// A name that is no dialect's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' is none of 'responses', 'chat', 'anthropic' and 'ai-sdk'")]
pub struct UnknownDialect {
    /// The name.
    pub name: String,
}
