//! Capabilities of stateful servers with the Responses API.

/// The capabilities of a server that owns the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "no server is barred from any set of them")]
pub struct Capabilities {
    /// It has the Conversations API. Otherwise Antiphon owns the conversations.
    pub conversations: bool,
    /// It continues a stored response (`previous_response_id`).
    pub chains: bool,
    /// It can delete an item of a conversation.
    pub item_deletion: bool,
    /// It lists the input of a response.
    pub input_items: bool,
}

/// A kind of server with known capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// OpenAI's own API.
    OpenAi,
    /// Azure and Foundry, whose v1 path has no conversations.
    Azure,
    /// An Open Responses server that stores only responses.
    OpenResponses,
}

impl Preset {
    /// The capabilities of this kind of server.
    pub fn capabilities(self) -> Capabilities {
        let all = Capabilities {
            conversations: true,
            chains: true,
            item_deletion: true,
            input_items: true,
        };
        match self {
            Self::OpenAi => all,
            Self::Azure => Capabilities { conversations: false, item_deletion: false, ..all },
            Self::OpenResponses => Capabilities {
                conversations: false,
                item_deletion: false,
                input_items: false,
                ..all
            },
        }
    }
}
