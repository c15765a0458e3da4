//! The APIs of model servers.

use std::fmt;

use super::request::{Encoded, Request, Unsupported};
use super::{Dialect, anthropic, chat};

/// The API of a model server.
///
/// Clients and histories have more forms than servers: see [`Dialect`]. No match over this type has
/// a default arm, so that a new API needs a decision at each difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpstreamApi {
    /// OpenAI's Responses API, and Open Responses.
    Responses,
    /// Chat Completions, as OpenAI, vLLM, SGLang, Ollama, llama.cpp, Azure and others serve it.
    Chat,
    /// Anthropic's Messages API.
    Anthropic,
}

/// The vendor whose conventions an API follows: its paths, its headers, the form of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// OpenAI, and the servers that follow it.
    OpenAi,
    /// Anthropic.
    Anthropic,
}

/// Encodes a request of the Responses API for a server with another API. The answer will be a
/// stream.
pub type Encoder = fn(Request<'_>) -> Result<Encoded, Unsupported>;

impl UpstreamApi {
    /// Every API.
    pub const ALL: [Self; 3] = [Self::Responses, Self::Chat, Self::Anthropic];

    /// The API's name in settings and on the command line.
    pub fn name(self) -> &'static str {
        Dialect::from(self).name()
    }

    /// The vendor of the API.
    pub fn vendor(self) -> Vendor {
        match self {
            Self::Responses | Self::Chat => Vendor::OpenAi,
            Self::Anthropic => Vendor::Anthropic,
        }
    }

    /// The encoder of requests. `None` if servers take requests of the Responses API unchanged.
    pub fn encoder(self) -> Option<Encoder> {
        match self {
            Self::Responses => None,
            Self::Chat => Some(chat::encode),
            Self::Anthropic => Some(anthropic::encode),
        }
    }
}

impl fmt::Display for UpstreamApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<UpstreamApi> for Dialect {
    fn from(api: UpstreamApi) -> Self {
        match api {
            UpstreamApi::Responses => Self::Responses,
            UpstreamApi::Chat => Self::Chat,
            UpstreamApi::Anthropic => Self::Anthropic,
        }
    }
}

impl Dialect {
    /// The API of servers that speak the dialect; `None` if there are none.
    pub fn upstream_api(self) -> Option<UpstreamApi> {
        match self {
            Self::Responses => Some(UpstreamApi::Responses),
            Self::Chat => Some(UpstreamApi::Chat),
            Self::Anthropic => Some(UpstreamApi::Anthropic),
            Self::AiSdk => None,
        }
    }
}
