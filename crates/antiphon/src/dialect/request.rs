//! Encodes a request of the Responses API for an upstream.

use std::fmt;

use bytes::Bytes;

use crate::item::Item;
use crate::json::Object;
use crate::transcript::Origin;

/// A request in the form of the Responses API. Its items are complete and in an order that
/// providers accept: repaired, and without references to a server's state.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Every field but `input`.
    pub fields: &'a Object<'a>,
    /// The input for the model.
    pub items: &'a [Item],
    /// The upstream and model. Sealed reasoning is returned only to its own origin.
    pub origin: &'a Origin,
}

/// A request in an upstream's dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The request's body.
    pub body: Bytes,
    /// The parts that the dialect cannot carry and the model can do without.
    pub omissions: Vec<Omission>,
}

/// A part of a request that is left out or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// The location of the part.
    pub place: RequestPath,
    /// The reason: a sentence that names the field and the dialect.
    pub message: String,
}

/// The error for a part that the upstream's dialect cannot carry. The request would have another
/// meaning without it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unsupported {
    /// The location of the part.
    pub place: RequestPath,
    /// A sentence that names the field and the dialect.
    pub message: String,
}

/// The error for a tool without a name, with the text of the Responses API.
pub(super) fn missing_name(position: usize) -> Unsupported {
    let path = format!("tools[{position}].name");
    Unsupported {
        message: format!("Missing required parameter: '{path}'."),
        place: RequestPath::Field(path),
    }
}

/// A location in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestPath {
    /// In a field: `tools[2].type`.
    Field(String),
    /// An item's position in the items, and a path in the item (`content[0]`), which may be empty.
    Item(usize, String),
}

impl RequestPath {
    /// A field, by its path.
    pub fn field(path: impl Into<String>) -> Self {
        Self::Field(path.into())
    }
}

/// The path in the form of API errors: `tools[2].type`, `input[3].content[0]`.
impl fmt::Display for RequestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(path) => f.write_str(path),
            Self::Item(position, path) if path.is_empty() => write!(f, "input[{position}]"),
            Self::Item(position, path) => write!(f, "input[{position}].{path}"),
        }
    }
}
