//! What servers of the Responses API that keep state can do.

/// What a server can do where it keeps the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "no server is barred from any set of them")]
pub struct Capabilities {
    /// It has the Conversations API. Where it has not, conversations are kept by Antiphon.
    pub conversations: bool,
    /// It goes on from a stored response (`previous_response_id`).
    pub chains: bool,
    /// An item of a conversation can be deleted.
    pub item_deletion: bool,
    /// It lists the input of a response.
    pub input_items: bool,
}

/// A kind of server whose capabilities are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// OpenAI's own API.
    OpenAi,
    /// Azure and Foundry, whose v1 path has no conversations.
    Azure,
    /// An Open Responses server that keeps responses and nothing else.
    OpenResponses,
}

impl Preset {
    /// What such a server can do.
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
