//! Dialects: the APIs of upstreams and clients, and the conversions between them.
//!
//! Every conversion uses the vocabulary of the Responses API as its middle form: items in requests,
//! and for answers an [`Assembler`](crate::stream::Assembler), which alone creates items and
//! events.
//!
//! ```text
//!   request:  items and fields ── encode ──> an upstream's request
//!   answer:   an upstream's stream ── decoder ──> assembler ── writer ──> a client's stream
//! ```
//!
//! - [`UpstreamApi::encoder`]: encodes a request for an upstream. A part that its API cannot carry
//!   is never dropped silently: it is an [`Unsupported`] error or a reported [`Omission`].
//! - [`StreamDecoder`]: decodes an upstream's stream and passes its content to an assembler.
//! - [`Writer`]: writes the output of an assembler in a client's dialect.
//! - [`Conversion`]: a decoder, an assembler and a writer together: bytes in, events out.
//! - [`PassingAnswer`]: an answer that passes to a client of the same API, without repeated calls.
//! - [`Seal`]: a provider's reasoning in `encrypted_content`, which the next request returns to it.
//!
//! ```
//! use antiphon::dialect::{Request, UpstreamApi};
//! use antiphon::item::parse_items;
//! use antiphon::json::Object;
//! use antiphon::Origin;
//!
//! let items = parse_items(&r#"[{"role":"user","content":"Hello"}]"#.into()).unwrap();
//! let fields = Object::parse_str(r#"{"model":"m"}"#).unwrap();
//! let request = Request { fields: &fields, items: &items, origin: &Origin::new("server m") };
//! let encode = UpstreamApi::Chat.encoder().unwrap();
//! let body = encode(request).unwrap().body;
//! assert!(String::from_utf8_lossy(&body).contains(r#""messages":["#));
//! ```

mod ai_sdk;
/// Anthropic's Messages API.
pub mod anthropic;
mod base64;
mod chat;
mod client_api;
mod conversion;
mod effort;
/// Google's Gemini API.
pub mod gemini;
mod item_form;
mod passing;
mod request;
mod request_decoder;
mod seal;
mod stream_decoder;
mod tools;
mod upstream_api;
mod usage;
mod writer;

pub use chat::{history as chat_history, with_placeholder_reasoning};
pub use client_api::{ClientApi, ClientFault, DecodedRequest, InvalidRequest, InvalidRequestKind};
pub use conversion::{Conversion, ConversionError, Converted};
pub use passing::PassingAnswer;
pub use request::RequestContext;
pub use request::{Encoded, Omission, Request, RequestPath, Unsupported};
pub use seal::Seal;
pub use stream_decoder::StreamDecoder;
pub use upstream_api::{Encoder, UpstreamApi, Vendor};
pub use writer::Writer;

use std::fmt;
use std::str::FromStr;

/// The form of a request, an answer or a history: the API of model servers or of their clients. The
/// APIs of servers alone are [`UpstreamApi`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenAI's Responses API, and Open Responses.
    Responses,
    /// Chat Completions, as OpenAI, vLLM, SGLang, Ollama, llama.cpp, Azure and others serve it.
    Chat,
    /// Anthropic's Messages API.
    Anthropic,
    /// Stream parts of the AI SDK, of a model or of a `fullStream`. Not a server's API.
    AiSdk,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 4] = [Self::Responses, Self::Chat, Self::Anthropic, Self::AiSdk];

    /// The dialect's name in settings and on the command line.
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
        let found = Self::ALL.into_iter().find(|dialect| dialect.name() == name);
        found.ok_or_else(|| UnknownDialect { name: name.to_owned() })
    }
}

/// The error for an unknown name of a dialect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' is none of 'responses', 'chat', 'anthropic' and 'ai-sdk'")]
pub struct UnknownDialect {
    /// The name.
    pub name: String,
}
