//! What a provider refuses in a list of items, as one closed catalogue.

mod left_out;
mod provider_error;
mod refusal;
mod state;

pub use left_out::LeftOut;
pub use refusal::Refusal;
pub use state::StateError;

use crate::item::{CallId, Item, ItemId, Kind};

/// One thing about an item for which a provider refuses the whole request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An earlier item has the same id.
    DuplicateItem {
        /// The id.
        id: ItemId,
    },
    /// An earlier call has the same kind and `call_id`.
    DuplicateCall {
        /// The kind of the call.
        kind: Kind,
        /// Its `call_id`.
        call_id: CallId,
        /// Whether the two say the same.
        identical: bool,
    },
    /// The call was answered already.
    DuplicateOutput {
        /// The kind of the output.
        kind: Kind,
        /// Its `call_id`.
        call_id: CallId,
    },
    /// No output answers the call.
    UnansweredCall {
        /// The kind of the call.
        kind: Kind,
        /// Its `call_id`.
        call_id: CallId,
    },
    /// No earlier call asked for the output.
    OutputWithoutCall {
        /// The kind of the output.
        kind: Kind,
        /// Its `call_id`.
        call_id: Option<CallId>,
    },
    /// Nothing that the model made follows the reasoning.
    LoneReasoning {
        /// The reasoning's id.
        id: Option<ItemId>,
    },
    /// The reasoning that the item was made with is not before it.
    MissingReasoning {
        /// The item's id.
        id: ItemId,
        /// What the item is.
        kind: Kind,
        /// The reasoning's id.
        reasoning: ItemId,
    },
    /// The encrypted content was not made by the model that is asked. No list tells; its origin does.
    ForeignContent {
        /// The item's id.
        id: Option<ItemId>,
        /// How the content begins and ends.
        content: String,
    },
    /// The reference names nothing that is held.
    UnresolvedReference {
        /// What it names.
        id: ItemId,
    },
    /// The id does not begin as ids of its kind do, or holds what no id holds.
    MalformedId {
        /// The id.
        id: ItemId,
        /// How it should begin.
        prefix: &'static str,
    },
    /// The id is over 64 characters.
    OverlongId {
        /// The id.
        id: ItemId,
    },
    /// The call's `call_id` is the empty string.
    EmptyCallId {
        /// The kind of the call.
        kind: Kind,
    },
    /// The call has no `call_id`.
    MissingCallId {
        /// The kind of the call.
        kind: Kind,
    },
    /// The call's `call_id` is over 64 characters.
    OverlongCallId {
        /// The kind of the call.
        kind: Kind,
        /// Its `call_id`.
        call_id: CallId,
    },
}

impl Fault {
    /// What is wrong with the form of an item's id. Only of kinds whose form is known for certain.
    pub(crate) fn of_form(kind: &Kind, id: &ItemId) -> Option<Self> {
        if id.as_str().chars().count() > MAX_ID_LENGTH {
            return Some(Self::OverlongId { id: id.clone() });
        }
        let prefix = match kind {
            Kind::Message => "msg",
            Kind::Reasoning => "rs",
            Kind::FunctionCall | Kind::FunctionCallOutput => "fc",
            Kind::CustomToolCall => "ctc",
            _ => return None,
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_wellformed = id.as_str().starts_with(prefix) && id.as_str().chars().all(is_plain);
        (!is_wellformed).then(|| Self::MalformedId { id: id.clone(), prefix })
    }

    /// The fault of an item whose encrypted content another model made.
    pub fn foreign_content(item: &Item) -> Self {
        let object = item.object();
        let content = object.string("encrypted_content").unwrap_or_default();
        Self::ForeignContent { id: item.head().id.clone(), content: abridged(&content) }
    }
}

/// The first and the last four characters, as providers show what they do not want to repeat; of
/// what is too short for that, none.
fn abridged(content: &str) -> String {
    let length = content.chars().count();
    let shown = if length >= 16 { 4 } else { 0 };
    let head: String = content.chars().take(shown).collect();
    let tail: String = content.chars().skip(length - shown).collect();
    format!("{head}...{tail}")
}

/// How many characters an id may have.
pub const MAX_ID_LENGTH: usize = 64;

impl Fault {
    /// The fault's name in headers, reports and logs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DuplicateItem { .. } => "duplicate_item",
            Self::DuplicateCall { .. } => "duplicate_call",
            Self::DuplicateOutput { .. } => "duplicate_output",
            Self::UnansweredCall { .. } => "unanswered_call",
            Self::OutputWithoutCall { .. } => "output_without_call",
            Self::LoneReasoning { .. } => "lone_reasoning",
            Self::MissingReasoning { .. } => "missing_reasoning",
            Self::ForeignContent { .. } => "foreign_content",
            Self::UnresolvedReference { .. } => "unresolved_reference",
            Self::MalformedId { .. } => "malformed_id",
            Self::OverlongId { .. } => "overlong_id",
            Self::EmptyCallId { .. } => "empty_call_id",
            Self::MissingCallId { .. } => "missing_call_id",
            Self::OverlongCallId { .. } => "overlong_call_id",
        }
    }

    /// Whether it is a fault of the item's own form. Providers look for those first.
    pub fn is_of_form(&self) -> bool {
        matches!(
            self,
            Self::MalformedId { .. }
                | Self::OverlongId { .. }
                | Self::EmptyCallId { .. }
                | Self::MissingCallId { .. }
                | Self::OverlongCallId { .. }
        )
    }
}
