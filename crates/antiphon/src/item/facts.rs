//! The columns of the table of kinds: the facts by which one kind of item differs from another.

/// The facts about one kind of item.
#[expect(clippy::struct_excessive_bools, reason = "each column is a fact of its own")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Whether a model produces such items.
    pub(super) is_model_made: bool,
    /// The prefix that providers require of an id; `None` if they are not known to check it.
    pub(super) required_prefix: Option<&'static str>,
    pub(super) id_need: IdNeed,
    pub(super) status: StatusField,
    pub(super) call_id: CallIdField,
    /// Whether a server that stores the conversation has such an item.
    pub(super) at_server: AtServer,
    pub(super) call_id_need: CallIdNeed,
    /// For a call: whether a provider accepts it without an output.
    pub(super) may_stay_open: bool,
    /// The tool that the item calls.
    pub(super) tool: Option<Tool>,
    /// The field with all that the item says.
    pub(super) text: Option<TextField>,
    pub(super) events: ItemEvents,
    /// For an output: its fields, except `type` and call id, in place of a missing output.
    pub(super) placeholder: Option<&'static str>,
    /// Whether the item configures all later turns.
    pub(super) is_setting: bool,
    /// Whether the item adds tools to those of the request.
    pub(super) adds_tools: bool,
}

/// The facts about an item of the model without peculiarities.
pub(super) const MODEL: Facts = Facts {
    is_model_made: true,
    required_prefix: None,
    id_need: IdNeed::Optional,
    status: StatusField::Optional,
    call_id: CallIdField::CallId,
    at_server: AtServer::Always,
    call_id_need: CallIdNeed::Required,
    may_stay_open: false,
    tool: None,
    text: None,
    events: ItemEvents::Fields,
    placeholder: None,
    is_setting: false,
    adds_tools: false,
};

/// The facts about an item of the client without peculiarities.
pub(super) const CLIENT: Facts =
    Facts { is_model_made: false, at_server: AtServer::Unknown, ..MODEL };

/// The facts about an output for which no placeholder can stand in.
pub(super) const OUTPUT: Facts = CLIENT;

/// The facts about an item of an unknown kind.
pub(super) const UNKNOWN: Facts = Facts { events: ItemEvents::Unknown, ..CLIENT };

/// The facts about a call of this tool.
pub(super) const fn call(tool: Tool) -> Facts {
    Facts { tool: Some(tool), status: StatusField::Required, ..MODEL }
}

/// The facts about a call of this tool that the provider answers in the same item.
pub(super) const fn hosted(tool: &'static str) -> Facts {
    Facts { id_need: IdNeed::Required, ..call(Tool::BuiltIn(tool)) }
}

/// Whether the API requires an id for items of a kind.
///
/// Source: the item tables of the Responses API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdNeed {
    /// The item may omit it.
    Optional,
    /// The item always needs one.
    Required,
    /// The item needs one if it has no content, plain or encrypted. The id then stands for content
    /// that the provider stores.
    WithoutContent,
}

/// Whether items of a kind have a `status`.
///
/// Source: the item tables of the Responses API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusField {
    /// A model's item always has one.
    Required,
    /// An item may have one.
    Optional,
    /// The API defines none or, for reasoning, rejects the one that it defines.
    Rejected,
}

/// The field that contains the `call_id` of a call or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallIdField {
    /// `call_id`
    CallId,
    /// `id`: the item's own id names the pair.
    Id,
    /// `approval_request_id`
    ApprovalRequestId,
    /// `call_id`, or else `id`, which is then no id of the item's own.
    CallIdOrId,
}

/// Whether the API requires a `call_id` for a call or an output.
///
/// Source: the item tables of the Responses API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallIdNeed {
    /// The item always needs one.
    Required,
    /// The item may omit it, and then pairs with nothing.
    Optional,
    /// The item may omit it if it has the `name` of its tool, and then pairs with nothing.
    WithoutName,
}

/// Whether a server that stores a conversation has an item of a kind, if its items are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtServer {
    /// It has every such item, because only servers issue them.
    Always,
    /// It has the item if that has an id and no `call_id`: the server ran the tool itself. With a
    /// `call_id`, a client answers a call.
    WithoutCallId,
    /// It has the answers that the model has read. The latest may be new.
    OnceRead,
    /// A client may send one that the server does not have.
    Unknown,
}

/// A tool, by the field of a call that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// A function of the client, with JSON `arguments`.
    Function,
    /// A custom tool of the client, with a text as `input`.
    Custom,
    /// A tool of an MCP server.
    Mcp,
    /// A built-in tool of the provider, by its type without a version: `web_search`.
    BuiltIn(&'static str),
}

impl CallIdField {
    /// The field's name, in an item with or without a `call_id`.
    pub(crate) fn name(self, has_call_id: bool) -> &'static str {
        match self {
            Self::CallId => "call_id",
            Self::CallIdOrId if has_call_id => "call_id",
            Self::CallIdOrId | Self::Id => "id",
            Self::ApprovalRequestId => "approval_request_id",
        }
    }
}

impl Tool {
    /// Whether the request defines the tool, by a name.
    pub fn is_named(self) -> bool {
        matches!(self, Self::Function | Self::Custom)
    }
}

/// The field with all that an item says to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextField {
    /// A text, or a list of parts.
    Parts(&'static str),
    /// A text.
    Plain(&'static str),
}

impl TextField {
    /// The field's name.
    pub fn name(self) -> &'static str {
        let (Self::Parts(name) | Self::Plain(name)) = self;
        name
    }
}

/// The events of an item in a stream, between the first and the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemEvents {
    /// Events of the parts that hold its text.
    Parts,
    /// Events of its own fields, or none.
    Fields,
    /// Any events: their form is not documented.
    Unknown,
}
