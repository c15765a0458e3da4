//! The items in a request body.

use antiphon::item::{HeadError, Item, Kind, ListError, Role, parse_items};
use antiphon::json::Object;
use bytes::Bytes;

use super::content::check_content;
use super::wrong_type;
use crate::error::ApiError;
use crate::limits::{check_item, check_items};
use crate::settings::Limits;

/// The input: a string or an array of items.
pub(super) fn input(
    body: &Bytes,
    fields: &Object<'_>,
    limits: &Limits,
) -> Result<Vec<Item>, ApiError> {
    let Some(raw) = fields.present("input") else {
        return Ok(Vec::new());
    };
    match raw.as_bytes()[0] {
        b'"' => {
            check_item(raw.len(), "input", limits)?;
            Ok(vec![user_message(raw)])
        }
        b'[' => items(&body.slice_ref(raw.as_bytes()), "input", limits),
        _ => Err(wrong_type("input", "a string or an array of objects", raw)),
    }
}

/// A string input is a message of the user.
fn user_message(raw: &str) -> Item {
    let message = format!(r#"{{"type":"message","role":"user","content":{raw}}}"#);
    Item::parse(message.into()).expect("the text above is an item")
}

/// The items of the raw array at `path`.
pub(crate) fn items(array: &Bytes, path: &str, limits: &Limits) -> Result<Vec<Item>, ApiError> {
    let items = parse_items(array).map_err(|error| item_error(path, error))?;
    check_items(&items, path, limits)?;
    for (position, item) in items.iter().enumerate() {
        check_fields(item, &format!("{path}[{position}]"))?;
    }
    Ok(items)
}

/// The raw item at `path`.
pub(crate) fn item(raw: Bytes, path: &str, limits: &Limits) -> Result<Item, ApiError> {
    let item = Item::parse(raw).map_err(|error| head_error(path.into(), &error))?;
    check_item(item.raw().len(), path, limits)?;
    check_fields(&item, path)?;
    Ok(item)
}

fn check_fields(item: &Item, path: &str) -> Result<(), ApiError> {
    check_role(item, &format!("{path}.role"))?;
    check_reference(item, &format!("{path}.id"))?;
    check_content(item, path)
}

fn check_role(item: &Item, path: &str) -> Result<(), ApiError> {
    if item.head().kind != Kind::Message {
        return Ok(());
    }
    match item.head().role {
        None => Err(ApiError::MissingParameter { name: path.into() }),
        Some(Role::Other) => {
            let role = item.object().string("role").map(std::borrow::Cow::into_owned);
            let (path, value) = (path.into(), role.unwrap_or_default());
            let supported = &["assistant", "system", "developer", "user"];
            Err(ApiError::InvalidValue { path, value, supported })
        }
        Some(_) => Ok(()),
    }
}

/// An item reference must contain an id.
fn check_reference(item: &Item, path: &str) -> Result<(), ApiError> {
    match item.head().kind == Kind::ItemReference && item.head().id.is_none() {
        true => Err(ApiError::MissingParameter { name: path.into() }),
        false => Ok(()),
    }
}

fn item_error(path: &str, error: ListError) -> ApiError {
    match error {
        ListError::Item { position, error } => head_error(format!("{path}[{position}]"), &error),
        ListError::NotAnArray(_) => ApiError::NotJson,
    }
}

fn head_error(path: String, error: &HeadError) -> ApiError {
    match *error {
        HeadError::NotAnObject { got } => ApiError::WrongType { path, expected: "an object", got },
        HeadError::WrongType { field, got } => {
            ApiError::WrongType { path: format!("{path}.{field}"), expected: "a string", got }
        }
        HeadError::NoType => ApiError::MissingParameter { name: format!("{path}.type") },
        HeadError::Syntax(_) => ApiError::NotJson,
    }
}

/// Rejects an item that would make every later turn of its conversation fail at the model.
pub(crate) fn check_stored_item(path: &str, item: &Item) -> Result<(), ApiError> {
    let head = item.head();
    if head.kind == Kind::CompactionTrigger {
        // A trigger belongs to one request, and a conversation stores only its content.
        return Err(ApiError::CompactionTriggerInConversation { path: path.into() });
    }
    let object = item.object();
    let content = object.present("content").unwrap_or("[]");
    if head.kind == Kind::Message && !content.starts_with(['"', '[']) {
        return Err(wrong_type(&format!("{path}.content"), "a string or an array", content));
    }
    let needs_call = head.kind.call().is_some() && object.present("name").is_none();
    match needs_call && head.call_id.is_none() {
        true => Err(ApiError::MissingParameter { name: format!("{path}.call_id") }),
        false => Ok(()),
    }
}

/// Whether the item is reasoning without content, plain or encrypted. A server that stores no state
/// cannot use its id alone.
pub(crate) fn is_bare_reasoning(item: &Item) -> bool {
    let head = item.head();
    let has_content = || item.object().present("content").is_some_and(|content| content != "[]");
    head.kind == Kind::Reasoning && !head.encrypted && !has_content()
}
