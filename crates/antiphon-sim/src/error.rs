//! The reasons to reject a request.

use std::fmt;

/// A fault of the caller. Its text is the message that a provider would send with status 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimError {
    /// The body is not a JSON object.
    UnreadableBody,
    /// A required field is absent or null.
    MissingParameter(&'static str),
    /// A field has a value that the API does not permit.
    InvalidParameter {
        /// The path of the field: `input[3]`.
        param: String,
        /// The permitted values, with an article.
        expected: &'static str,
    },
    /// The request refers to an object that only a stateful server could have.
    NotHeld {
        /// The type of the object: `Conversation`.
        kind: &'static str,
        /// Its id.
        id: String,
    },
    /// `tool_choice` names a tool that is not among the callable tools.
    UnknownTool(String),
    /// `tool_choice` demands a call and there is no callable tool.
    NothingToCall,
    /// No value can satisfy the JSON schema.
    Schema {
        /// The owner of the schema: `function 'echo'`.
        subject: String,
        /// The reason.
        fault: &'static str,
    },
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
                write!(f, "{kind} with id '{id}' not found: this model stores nothing.")
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
