//! Why a request is refused.

use std::fmt;

/// What a caller did wrong; its sentence is the message of the 400 that a provider would send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SimError {
    /// The body is not a JSON object.
    UnreadableBody,
    /// A field that every request needs is absent or null.
    MissingParameter(&'static str),
    /// A field is there but is not what the API defines.
    InvalidParameter { param: String, expected: &'static str },
    /// The request refers to something that only a server with state could hold.
    NotHeld { kind: &'static str, id: String },
    /// `tool_choice` names a tool that is not among the callable tools.
    UnknownTool(String),
    /// `tool_choice` demands a call and there is no callable tool.
    NothingToCall,
    /// A JSON schema that no value can be made from.
    Schema { subject: String, fault: &'static str },
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnreadableBody => f.write_str("The body of the request is not a JSON object."),
            Self::MissingParameter(param) => write!(f, "Missing required parameter: '{param}'."),
            Self::InvalidParameter { param, expected } => {
                write!(f, "Invalid '{param}': expected {expected}.")
            }
            Self::NotHeld { kind, id } => {
                write!(f, "{kind} with id '{id}' not found: this model keeps nothing.")
            }
            Self::UnknownTool(name) => {
                write!(f, "Tool choice '{name}' not found in 'tools' parameter.")
            }
            Self::NothingToCall => f.write_str(
                "Tool choice demands a call, but 'tools' has no function or custom tool to call.",
            ),
            Self::Schema { subject, fault } => {
                write!(f, "Invalid schema for {subject}: {fault}.")
            }
        }
    }
}

impl std::error::Error for SimError {}
