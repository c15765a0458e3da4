//! The APIs that the fake upstream serves.

/// An API of model servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI's Responses, as a provider serves it that keeps no state.
    Responses,
    /// Chat Completions, as OpenAI and `DeepSeek` serve it.
    Chat,
    /// Anthropic's Messages.
    Anthropic,
}

impl Api {
    /// Every API.
    pub const ALL: [Self; 3] = [Self::Responses, Self::Chat, Self::Anthropic];

    /// Where requests are sent: `/v1/responses`.
    pub fn path(self) -> &'static str {
        match self {
            Self::Responses => "/v1/responses",
            Self::Chat => "/v1/chat/completions",
            Self::Anthropic => "/v1/messages",
        }
    }

    /// The API that is served at `path`.
    pub fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.path() == path)
    }
}
