//! Which provider is played.

use std::str::FromStr;

use http::StatusCode;
use serde_json::{Value, json};

/// A provider of the Responses API, as it differs from the others in what it serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// OpenAI: everything.
    #[default]
    OpenAi,
    /// Azure: chains and their items, but no conversations; fields that nobody knows are ignored;
    /// the key may stand in `api-key`.
    Azure,
    /// An Open Responses server: chains alone, without lists of their items, and unknown fields are
    /// ignored.
    ChainsOnly,
}

/// What a provider serves beyond responses and chains of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    pub(crate) conversations: bool,
    pub(crate) input_items: bool,
    /// Whether a field that nobody knows is refused.
    pub(crate) knows_its_fields: bool,
    /// The header in which a key may stand besides `Authorization`.
    pub(crate) key_header: Option<&'static str>,
}

impl Profile {
    pub(crate) fn served(self) -> Served {
        match self {
            Self::OpenAi => Served {
                conversations: true,
                input_items: true,
                knows_its_fields: true,
                key_header: None,
            },
            Self::Azure => Served {
                conversations: false,
                input_items: true,
                knows_its_fields: false,
                key_header: Some("api-key"),
            },
            Self::ChainsOnly => Served {
                conversations: false,
                input_items: false,
                knows_its_fields: false,
                key_header: None,
            },
        }
    }

    /// The answer where nothing is served, if it is another than OpenAI's.
    pub(crate) fn not_served(self) -> Option<(StatusCode, Value)> {
        let body = match self {
            Self::OpenAi => return None,
            Self::Azure => json!({"error": {"code": "404", "message": "Resource not found"}}),
            Self::ChainsOnly => json!({"detail": "Not Found"}),
        };
        Some((StatusCode::NOT_FOUND, body))
    }
}

impl FromStr for Profile {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "openai" => Ok(Self::OpenAi),
            "azure" => Ok(Self::Azure),
            "open-responses" => Ok(Self::ChainsOnly),
            _ => Err(()),
        }
    }
}
