//! The form of a custom tool's input.

use serde_json::{Value, json};

/// A grammar that the input of a custom tool matches.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grammar {
    /// A context-free grammar in the syntax of Lark.
    Lark(String),
    /// A regular expression.
    Regex(String),
}

impl Grammar {
    /// The `format` of a custom tool.
    pub(super) fn to_json(&self) -> Value {
        let (syntax, definition) = match self {
            Self::Lark(definition) => ("lark", definition),
            Self::Regex(definition) => ("regex", definition),
        };
        json!({"type": "grammar", "syntax": syntax, "definition": definition})
    }
}
