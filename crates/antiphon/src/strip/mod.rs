//! Requests whose state a server holds, rid of what it holds.
//!
//! A request that carries a storage marker continues what the server stored: items of the turns
//! before are there already, and sent once more they are refused as duplicates. [`strip`] leaves
//! out, by kind alone, the items to which a server gives their identity: calls, reasoning, approval
//! requests and their responses, and a local shell's calls and outputs. Outputs stay: the server
//! finds the call by its `call_id`. So do messages, references and kinds that nobody knows.
//!
//! It is for those who cannot know what is held. Whoever can asks [`reconcile`](crate::reconcile),
//! which also tells a new approval or a new output of a local shell from one that was sent before;
//! here both go.

#[cfg(test)]
mod tests;

use bytes::Bytes;

use crate::item::{Head, Item, ItemId, Kind, ListError, items_of};
use crate::json::{Object, range_in, with_elements};

/// A request as it is to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Stripped {
    /// The body. Where nothing was stripped it is the one that was given, byte for byte; else all
    /// but the stripped items is.
    pub body: Bytes,
    /// By what the request says that the server holds its state.
    pub marker: Option<Marker>,
    /// What was stripped, in order.
    pub items: Vec<StrippedItem>,
}

/// An item that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrippedItem {
    /// Its position in the input that was given.
    pub position: usize,
    /// What it is.
    pub kind: Kind,
    /// Its id, where it has one.
    pub id: Option<ItemId>,
}

/// A field that makes a request continue what the server stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// `previous_response_id`
    PreviousResponseId,
    /// `conversation`
    Conversation,
}

impl Marker {
    /// The marker that a request carries. A field that is null or the empty string is none.
    pub fn of(request: &Object<'_>) -> Option<Self> {
        let is_set =
            |marker: &Self| request.present(marker.field()).is_some_and(|value| value != r#""""#);
        [Self::PreviousResponseId, Self::Conversation].into_iter().find(is_set)
    }

    /// The field's name.
    pub fn field(self) -> &'static str {
        match self {
            Self::PreviousResponseId => "previous_response_id",
            Self::Conversation => "conversation",
        }
    }
}

/// Why a body is no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StripError {
    /// It is no JSON object.
    #[error("expected a request: {0}")]
    NotAnObject(String),
    /// Its input is an array, but not one of items.
    #[error("'input': {0}")]
    Input(#[from] ListError),
}

/// Strips the request that `body` holds of the items that its server holds.
pub fn strip(body: &Bytes) -> Result<Stripped, StripError> {
    let no_object = |error: &dyn std::fmt::Display| StripError::NotAnObject(error.to_string());
    let text = std::str::from_utf8(body).map_err(|error| no_object(&error))?;
    let request = Object::parse(body).map_err(|error| no_object(&error))?;
    let marker = Marker::of(&request);
    let input = request.get("input").filter(|input| marker.is_some() && input.starts_with('['));
    let unchanged = Stripped { body: body.clone(), marker, items: Vec::new() };
    let Some(input) = input else {
        return Ok(unchanged);
    };
    let given = items_of(&body.slice_ref(input.as_bytes()))?;
    let items = stripped(&given);
    if items.is_empty() {
        return Ok(unchanged);
    }
    let kept = given.iter().filter(|item| !is_held_by_server(item.head())).map(Item::text);
    let body = with_elements(text, range_in(text, input), kept).into();
    Ok(Stripped { body, items, ..unchanged })
}

fn stripped(given: &[Item]) -> Vec<StrippedItem> {
    let held = given.iter().enumerate().filter(|(_, item)| is_held_by_server(item.head()));
    let stripped = held.map(|(position, item)| {
        let Head { kind, id, .. } = item.head().clone();
        StrippedItem { position, kind, id }
    });
    stripped.collect()
}

/// Whether a server that holds the state of a request holds the item too, as far as its kind tells.
pub fn is_held_by_server(head: &Head) -> bool {
    use Kind as K;
    let is_callers_call = head.kind.output().is_some();
    is_callers_call
        || matches!(
            head.kind,
            K::Reasoning
                | K::LocalShellCallOutput
                | K::McpApprovalResponse
                | K::McpCall
                | K::WebSearchCall
                | K::FileSearchCall
                | K::CodeInterpreterCall
                | K::ImageGenerationCall
        )
}
