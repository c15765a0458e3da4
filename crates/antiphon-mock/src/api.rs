//! The APIs that the fake upstream serves.

/// An API of model servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI's Responses API, as a stateless provider serves it.
    Responses,
    /// Chat Completions, as OpenAI and `DeepSeek` serve it.
    Chat,
    /// Anthropic's Messages.
    Anthropic,
}

impl Api {
    /// Every API.
    pub const ALL: [Self; 3] = [Self::Responses, Self::Chat, Self::Anthropic];

    /// The path of its requests: `/v1/responses`, for example.
    pub fn path(self) -> &'static str {
        match self {
            Self::Responses => "/v1/responses",
            Self::Chat => "/v1/chat/completions",
            Self::Anthropic => "/v1/messages",
        }
    }

    /// The API with this path.
    pub fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.path() == path)
    }
}
