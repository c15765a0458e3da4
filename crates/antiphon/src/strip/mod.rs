//! Removes items from a request that its server already holds, judged by their kind alone.
//!
//! A request with a storage [`Marker`] continues stored state. The server has the items of earlier
//! turns and refuses copies of them as duplicates. [`strip`] leaves out the kinds whose ids the
//! server issues: calls, reasoning, approval requests and their responses, and the calls and
//! outputs of a local shell. Other outputs stay, because the server finds their call by its
//! `call_id`. Messages, references and unknown kinds stay as well.
//!
//! Use it only if the stored items are unknown. Otherwise use [`reconcile`](crate::reconcile),
//! which also recognizes a new approval and a new output of a local shell; `strip` leaves both out.
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

use bytes::Bytes;

use crate::item::{CallIdField, Head, Item, ItemId, Kind, ListError, parse_items};
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
}

impl Marker {
    /// The marker of a request. A field that is null or an empty string does not count.
    pub fn from_request(request: &Object<'_>) -> Option<Self> {
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

/// Removes the items from the request in `body` that its server holds.
pub fn strip(body: &Bytes) -> Result<Stripped, StripError> {
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
    let items = find_stripped(&given);
    if items.is_empty() {
        return Ok(unchanged);
    }
    let kept = given.iter().filter(|item| !is_held_by_server(item.head())).map(Item::text);
    let body = replace_array(text, range_of_slice(text, input), kept).into();
    Ok(Stripped { body, items, ..unchanged })
}

fn find_stripped(given: &[Item]) -> Vec<StrippedItem> {
    let held = given.iter().enumerate().filter(|(_, item)| is_held_by_server(item.head()));
    let stripped = held.map(|(position, item)| {
        let Head { kind, id, .. } = item.head().clone();
        StrippedItem { position, kind, id }
    });
    stripped.collect()
}

/// Whether a server that stores the state of a request also holds the item, judged by its kind
/// alone.
pub fn is_held_by_server(head: &Head) -> bool {
    let kind = &head.kind;
    let is_call = kind.output().is_some() || kind.is_hosted_call();
    let is_output_by_id = kind.call().is_some() && kind.call_id_field() != CallIdField::CallId;
    *kind == Kind::Reasoning || is_call || is_output_by_id
}
