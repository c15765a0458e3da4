//! The providers that can be imitated.

use std::str::FromStr;

use http::StatusCode;
use serde_json::{Value, json};

/// A provider of the Responses API. Profiles differ in the features that they serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// OpenAI: every feature.
    #[default]
    OpenAi,
    /// Azure: response chains and their items, but no conversations. It ignores unknown fields and
    /// also reads the key from `api-key`.
    Azure,
    /// An Open Responses server: response chains only, without lists of their items. It ignores
    /// unknown fields.
    ChainsOnly,
}

/// The features that a provider serves besides responses and response chains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    pub(crate) conversations: bool,
    pub(crate) input_items: bool,
    /// Whether the provider refuses unknown fields.
    pub(crate) knows_its_fields: bool,
    /// A header that may contain the key in place of `Authorization`.
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

    /// The reply for a route that does not exist, if it differs from OpenAI's.
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
