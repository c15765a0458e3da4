//! The faults for which a provider refuses a list of items, as one closed catalogue.
//!
//! ```
//! use antiphon::faults::StateError;
//! use antiphon::item::parse_items;
//! use antiphon::repair::check;
//!
//! let call = r#"[{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}]"#;
//! let (position, fault) = check(&parse_items(&call.into()).unwrap()).remove(0);
//! assert_eq!((position, fault.name()), (0, "unanswered_call"));
//!
//! // A server's error text is recognized as the same fault.
//! let message = fault.refusal(position).message;
//! assert_eq!(message, "No tool output found for function call call_1.");
//! let error = StateError::recognize("", &message).unwrap();
//! assert_eq!(error, StateError::UnansweredCall("call_1".into()));
//! ```

mod omission_reason;
mod pages;
mod provider_error;
mod recognition;
mod refusal;
mod state;

pub use omission_reason::OmissionReason;
pub use pages::{PAGES, Page};
pub use refusal::Refusal;
pub use state::StateError;

use crate::item::{CallId, Item, ItemId, Kind};

/// A fault of one item for which a provider refuses the whole request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
        /// Whether the two calls have equal content.
        identical: bool,
    },
    /// The call already has an output.
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
    /// The output has no earlier call.
    OutputWithoutCall {
        /// The kind of the output.
        kind: Kind,
        /// Its `call_id`.
        call_id: Option<CallId>,
    },
    /// No item of the model follows the reasoning.
    LoneReasoning {
        /// The reasoning's id.
        id: Option<ItemId>,
    },
    /// The reasoning that the model produced the item with does not precede it.
    MissingReasoning {
        /// The item's id.
        id: ItemId,
        /// The item's kind.
        kind: Kind,
        /// The reasoning's id.
        reasoning: ItemId,
    },
    /// The encrypted content comes from another model than the request's. A list alone does not
    /// show that; the stored origin of the item does.
    ForeignContent {
        /// The item's id.
        id: Option<ItemId>,
        /// The beginning and the end of the content.
        content: String,
    },
    /// The reference names an unknown item.
    UnresolvedReference {
        /// The id in the reference.
        id: ItemId,
    },
    /// The id lacks the prefix of its kind, contains invalid characters or is empty.
    MalformedId {
        /// The id.
        id: ItemId,
        /// The expected prefix.
        prefix: &'static str,
    },
    /// The id is longer than 64 characters.
    OverlongId {
        /// The id.
        id: ItemId,
    },
    /// The item has no id, although its kind needs one.
    MissingId {
        /// The kind of the item.
        kind: Kind,
    },
    /// The `call_id` of a call or of an output is the empty string.
    EmptyCallId {
        /// The kind of the item.
        kind: Kind,
    },
    /// The call or the output has no `call_id`.
    MissingCallId {
        /// The kind of the item.
        kind: Kind,
    },
    /// The call's `call_id` is longer than 64 characters.
    OverlongCallId {
        /// The kind of the call.
        kind: Kind,
        /// Its `call_id`.
        call_id: CallId,
    },
}

impl Fault {
    /// Checks the form of an item's id. Only kinds with a documented form are checked.
    pub(crate) fn check_id_form(kind: &Kind, id: &ItemId) -> Option<Self> {
        if id.as_str().chars().count() > MAX_ID_LENGTH {
            return Some(Self::OverlongId { id: id.clone() });
        }
        let prefix = kind.required_prefix()?;
        let is_wellformed = id.as_str().starts_with(prefix) && has_valid_characters(id.as_str());
        (!is_wellformed).then(|| Self::MalformedId { id: id.clone(), prefix })
    }

    /// The fault of an item whose `id` is the empty string.
    pub(crate) fn check_empty_id(item: &Item) -> Option<Self> {
        let kind = &item.head().kind;
        item.has_empty_id().then(|| Self::check_id_form(kind, &ItemId::from("")))?
    }

    /// The fault of an item with the encrypted content of another model.
    pub fn foreign_content(item: &Item) -> Self {
        let object = item.object();
        let content = object.string("encrypted_content").unwrap_or_default();
        Self::ForeignContent { id: item.head().id.clone(), content: abridge(&content) }
    }
}

/// Whether an id has only letters, digits, underscores and dashes, and at least one of them.
fn has_valid_characters(id: &str) -> bool {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !id.is_empty() && id.chars().all(is_valid)
}

/// The first and the last four characters, as providers abbreviate content in their errors. Content
/// of less than 16 characters is not shown at all.
fn abridge(content: &str) -> String {
    let length = content.chars().count();
    let shown = if length >= 16 { 4 } else { 0 };
    let head: String = content.chars().take(shown).collect();
    let tail: String = content.chars().skip(length - shown).collect();
    format!("{head}...{tail}")
}

/// The length limit of an id, in characters.
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
            Self::MissingId { .. } => "missing_id",
            Self::EmptyCallId { .. } => "empty_call_id",
            Self::MissingCallId { .. } => "missing_call_id",
            Self::OverlongCallId { .. } => "overlong_call_id",
        }
    }

    /// Whether the fault is in the form of a single item. Providers check that first.
    pub fn is_of_form(&self) -> bool {
        matches!(
            self,
            Self::MalformedId { .. }
                | Self::OverlongId { .. }
                | Self::MissingId { .. }
                | Self::EmptyCallId { .. }
                | Self::MissingCallId { .. }
                | Self::OverlongCallId { .. }
        )
    }
}
