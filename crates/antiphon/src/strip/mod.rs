//! Removes items from a request that its server already holds, judged by the items alone.
//!
//! A request with a storage [`Marker`] continues stored state. The server has the items of earlier
//! turns and refuses copies of them as duplicates. [`strip`] leaves out the items that only servers
//! issue: calls, reasoning, approval requests, lists of MCP tools, the outputs of programs, and the
//! outputs of tool searches that the server ran itself. A request without a marker stays as it is.
//!
//! # Answers
//!
//! An answer to a call or a request that may be open is never left out:
//!
//! - The outputs of functions, custom tools, shells, patches, computers and tool searches stay. The
//!   server finds their calls by `call_id`.
//! - Approvals and the outputs of a local shell stay too, unless the input shows that the model has
//!   read them: an assistant message comes later, or the MCP call that the approval allowed. The
//!   server then has them. A later call does not show it, because a client may write the output of
//!   each parallel call next to it.
//!
//! [`OnAnswer::Drop`] leaves out approvals and the outputs of a local shell in any case. New ones
//! are then lost, so use it only if the input is known to contain none.
//!
//! Messages, references, compactions, settings and unknown kinds stay.
//!
//! Use `strip` only if the stored items are unknown. Otherwise use
//! [`reconcile`](crate::reconcile).
//!
//! ```
//! use antiphon::strip::strip;
//!
//! let request = r#"{"previous_response_id":"resp_1","input":[
//!     {"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},
//!     {"type":"function_call_output","call_id":"call_1","output":"done"}]}"#;
//! let stripped = strip(&request.into()).unwrap();
//! assert_eq!(stripped.items.len(), 1);
//! assert_eq!(stripped.items[0].kind.as_str(), "function_call");
//! ```

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use bytes::Bytes;

use crate::item::{AtServer, CallId, Head, Item, ItemId, Kind, ListError, Role, parse_items};
use crate::json::{Object, range_of_slice, replace_array};

/// A stripped request.
#[derive(Clone, Debug, PartialEq)]
pub struct Stripped {
    /// The body to send. All bytes but those of the stripped items are those of the given body.
    pub body: Bytes,
    /// The field that makes the request continue stored state.
    pub marker: Option<Marker>,
    /// The stripped items, in order.
    pub items: Vec<StrippedItem>,
}

/// An item that was stripped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrippedItem {
    /// Its position in the given input.
    pub position: usize,
    /// Its kind.
    pub kind: Kind,
    /// Its id, if it has one.
    pub id: Option<ItemId>,
}

/// A field that makes a request continue stored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// `previous_response_id`
    PreviousResponseId,
    /// `conversation`
    Conversation,
    /// `conversation_id`, as some frameworks name it in their own options.
    ConversationId,
}

/// How to treat approvals and the outputs of a local shell, which have an id of their own or their
/// call's, if the stored items are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnAnswer {
    /// Keep them, unless the input shows that the model has read them.
    #[default]
    Keep,
    /// Leave them out, new ones too.
    Drop,
}

impl Marker {
    /// The marker of a request. A field that is null or an empty string does not count.
    pub fn from_request(request: &Object<'_>) -> Option<Self> {
        let is_set =
            |marker: &Self| request.present(marker.field()).is_some_and(|value| value != r#""""#);
        let all = [Self::PreviousResponseId, Self::Conversation, Self::ConversationId];
        all.into_iter().find(is_set)
    }

    /// The field's name.
    pub fn field(self) -> &'static str {
        match self {
            Self::PreviousResponseId => "previous_response_id",
            Self::Conversation => "conversation",
            Self::ConversationId => "conversation_id",
        }
    }
}

/// The reason why a body is not a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StripError {
    /// The body is not a JSON object.
    #[error("expected a request: {0}")]
    NotAnObject(String),
    /// The input is an array, but not one of items.
    #[error("'input': {0}")]
    Input(#[from] ListError),
}

/// Removes the items from the request in `body` that its server holds. Without a marker the body
/// stays byte for byte.
pub fn strip(body: &Bytes) -> Result<Stripped, StripError> {
    strip_with(body, OnAnswer::default())
}

/// Removes the items from the request in `body` that its server holds, and answers according to
/// `answers`.
pub fn strip_with(body: &Bytes, answers: OnAnswer) -> Result<Stripped, StripError> {
    let no_object = |error: &dyn std::fmt::Display| StripError::NotAnObject(error.to_string());
    let text = std::str::from_utf8(body).map_err(|error| no_object(&error))?;
    let request = Object::parse(body).map_err(|error| no_object(&error))?;
    let marker = Marker::from_request(&request);
    let input = request.get("input").filter(|input| marker.is_some() && input.starts_with('['));
    let unchanged = Stripped { body: body.clone(), marker, items: Vec::new() };
    let Some(input) = input else {
        return Ok(unchanged);
    };
    let given = parse_items(&body.slice_ref(input.as_bytes()))?;
    let held = find_held(&given, answers);
    if !held.contains(&true) {
        return Ok(unchanged);
    }
    let is_held = |position: &usize| held[*position];
    let kept = (0..given.len()).filter(|position| !is_held(position));
    let kept = kept.map(|position| given[position].text());
    let body = replace_array(text, range_of_slice(text, input), kept).into();
    let items = (0..given.len()).filter(is_held).map(|position| {
        let Head { kind, id, .. } = given[position].head().clone();
        StrippedItem { position, kind, id }
    });
    Ok(Stripped { body, items: items.collect(), ..unchanged })
}

/// Finds the items of an input that a server which stores the conversation also holds. The result
/// has a value for each item.
pub fn find_held(input: &[Item], answers: OnAnswer) -> Vec<bool> {
    let mut later = Later::default();
    let mut held: Vec<bool> = input
        .iter()
        .rev()
        .map(|item| {
            later.read(item);
            later.shows_held(item.head(), answers)
        })
        .collect();
    held.reverse();
    held
}

/// The later items of an input, as evidence about an earlier one.
#[derive(Default)]
struct Later {
    has_assistant_message: bool,
    /// The approval requests whose calls were made.
    approved: HashSet<CallId>,
}

impl Later {
    fn read(&mut self, item: &Item) {
        let head = item.head();
        self.has_assistant_message |= head.role == Some(Role::Assistant);
        if head.kind == Kind::McpCall {
            let call = item.object();
            self.approved.extend(call.string("approval_request_id").map(|id| CallId::from(&*id)));
        }
    }

    fn shows_held(&self, head: &Head, answers: OnAnswer) -> bool {
        match head.kind.at_server() {
            AtServer::Always => true,
            AtServer::WithoutCallId => head.id.is_some() && head.call_id.is_none(),
            AtServer::OnceRead => answers == OnAnswer::Drop || self.has_read(head),
            AtServer::Unknown => false,
        }
    }

    /// Whether the model has read the answer.
    fn has_read(&self, answer: &Head) -> bool {
        let is_approved =
            |id: &CallId| answer.kind == Kind::McpApprovalResponse && self.approved.contains(id);
        self.has_assistant_message || answer.call_id.as_ref().is_some_and(is_approved)
    }
}
