//! A request, from the Responses API's fields and items to an upstream's dialect.

use std::fmt;

use bytes::Bytes;

use super::{Dialect, anthropic, chat};
use crate::item::Item;
use crate::json::Object;
use crate::transcript::Origin;

/// A request as the Responses API has it. Its items are in a provider's order already: repaired,
/// with nothing that only a server's state explains.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Every field but `input`.
    pub fields: &'a Object<'a>,
    /// What the model is given.
    pub items: &'a [Item],
    /// Who is asked. Sealed reasoning goes back only to who made it.
    pub origin: &'a Origin,
}

/// A request in an upstream's dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The request's body.
    pub body: Bytes,
    /// What the dialect cannot carry and the model can do without.
    pub omissions: Vec<Omission>,
}

/// Something that was left out of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// Where it stood.
    pub place: Place,
    /// Why it was left out: a sentence that names field and dialect.
    pub message: String,
}

/// A part of a request that its upstream's dialect cannot carry, and without which the request would
/// mean something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unsupported {
    /// Where it stands.
    pub place: Place,
    /// A sentence that names field and dialect.
    pub message: String,
}

/// A tool without a name, in the Responses API's own words.
pub(super) fn missing_name(position: usize) -> Unsupported {
    let path = format!("tools[{position}].name");
    Unsupported {
        message: format!("Missing required parameter: '{path}'."),
        place: Place::Field(path),
    }
}

/// A place in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a field: `tools[2].type`.
    Field(String),
    /// In an item: its position in the items, and the path within it (`content[0]`), if any.
    Item(usize, String),
}

impl Place {
    /// A field by its path.
    pub fn field(path: impl Into<String>) -> Self {
        Self::Field(path.into())
    }
}

/// The path as errors name it: `tools[2].type`, `input[3].content[0]`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(path) => f.write_str(path),
            Self::Item(position, path) if path.is_empty() => write!(f, "input[{position}]"),
            Self::Item(position, path) => write!(f, "input[{position}].{path}"),
        }
    }
}

/// The request in an upstream's dialect, to be answered as a stream.
///
/// # Panics
/// If the dialect is no foreign server's: a Responses server takes the request as it is, and the AI
/// SDK is none.
pub fn encode(dialect: Dialect, request: Request<'_>) -> Result<Encoded, Unsupported> {
    match dialect {
        Dialect::Chat => chat::encode(request),
        Dialect::Anthropic => anthropic::encode(request),
        Dialect::Responses | Dialect::AiSdk => {
            panic!("requests are encoded for Chat Completions and for Anthropic Messages")
        }
    }
}
