//! The owner of the conversation's state between turns, chosen from the application's options.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! owner_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The identifier as it is on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<String>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

owner_id!(
    /// The id of a conversation that a server stores: `conv_…`.
    ConversationId
);
owner_id!(
    /// The id of one response: `resp_…`.
    ResponseId
);

/// State that a server owns, and how the next request continues it. The two kinds exclude each
/// other: a request carries `conversation` or `previous_response_id`, never both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Continuation {
    /// A conversation: every request names it.
    Conversation {
        /// Its id.
        id: ConversationId,
    },
    /// A chain of responses: every request names the one before.
    Chain {
        /// The latest response that had an id; `None` before the first one.
        previous_response_id: Option<ResponseId>,
    },
}

impl Continuation {
    /// The `conversation` of the next request.
    pub fn conversation_id(&self) -> Option<&ConversationId> {
        match self {
            Self::Conversation { id } => Some(id),
            Self::Chain { .. } => None,
        }
    }

    /// The `previous_response_id` of the next request.
    pub fn previous_response_id(&self) -> Option<&ResponseId> {
        match self {
            Self::Conversation { .. } => None,
            Self::Chain { previous_response_id } => previous_response_id.as_ref(),
        }
    }

    /// Continues from an accepted response. A response without an id does not advance the chain:
    /// the latest response that can be continued counts.
    pub(super) fn advance(&mut self, response_id: Option<&ResponseId>) {
        let usable = response_id.filter(|id| !id.as_str().is_empty());
        if let (Self::Chain { previous_response_id }, Some(id)) = (self, usable) {
            *previous_response_id = Some(id.clone());
        }
    }
}

/// The application's options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContinuationOptions {
    /// Continue this conversation.
    pub conversation_id: Option<ConversationId>,
    /// Continue from this response.
    pub previous_response_id: Option<ResponseId>,
    /// Chain the responses of the run, even if there is no response to continue yet.
    pub auto_previous_response_id: bool,
    /// The client has a session, which owns the history itself.
    pub session: bool,
}

/// The options name two owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConflictingOptions {
    /// A client session and a state that a server owns.
    #[error("a session cannot be combined with {option}: one of the two owns the history")]
    SessionWithServerState {
        /// The first option that asks for a server's state.
        option: &'static str,
    },
    /// A conversation and a chain.
    #[error("conversation_id cannot be combined with {option}")]
    ConversationWithChain {
        /// The first option that asks for a chain.
        option: &'static str,
    },
}

impl ContinuationOptions {
    /// Chooses the owner of the state; `None` if the application owns it and replays the full
    /// history.
    pub fn choose(&self) -> Result<Option<Continuation>, ConflictingOptions> {
        let conversation = self.conversation_id.as_ref().map(|_| "conversation_id");
        let chain = self.chain_option();
        if let (true, Some(option)) = (self.session, conversation.or(chain)) {
            return Err(ConflictingOptions::SessionWithServerState { option });
        }
        match (&self.conversation_id, chain) {
            (Some(_), Some(option)) => Err(ConflictingOptions::ConversationWithChain { option }),
            (Some(id), None) => Ok(Some(Continuation::Conversation { id: id.clone() })),
            (None, Some(_)) => Ok(Some(Continuation::Chain {
                previous_response_id: self.previous_response_id.clone(),
            })),
            (None, None) => Ok(None),
        }
    }

    /// The name of the first option that asks for a chain.
    fn chain_option(&self) -> Option<&'static str> {
        if self.previous_response_id.is_some() {
            return Some("previous_response_id");
        }
        self.auto_previous_response_id.then_some("auto_previous_response_id")
    }
}

/// The options that a resumed run was started with, so that new options are checked against them.
impl From<&Continuation> for ContinuationOptions {
    fn from(continuation: &Continuation) -> Self {
        Self {
            conversation_id: continuation.conversation_id().cloned(),
            previous_response_id: continuation.previous_response_id().cloned(),
            auto_previous_response_id: matches!(continuation, Continuation::Chain { .. }),
            session: false,
        }
    }
}
