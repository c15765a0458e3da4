//! Errors in all their forms.

use super::part::Part;
use crate::json::{Object, unquote};
use crate::stream::Failure;

/// The maximum depth of nested errors: an event in an SDK's error, an error in an event.
const MAX_DEPTH: usize = 4;

/// The failure in an `error` part. The error is a string, or an object with a `message`, or an
/// object with such an object as its `error`.
pub(super) fn from_part(part: Part<'_>) -> Failure {
    let error = part.get("error");
    let failure = Failure::server_error("The upstream failed without an error message.");
    Failure {
        code: code(error).unwrap_or(failure.code),
        message: message(error).unwrap_or(failure.message),
    }
}

/// The failure for an `abort` part, which can contain a reason.
pub(super) fn from_abort(part: Part<'_>) -> Failure {
    let reason = part.string("reason").filter(|reason| !reason.is_empty());
    let message =
        reason.map_or_else(|| "The run was aborted.".into(), std::borrow::Cow::into_owned);
    Failure { code: "aborted".into(), message }
}

/// The message of an error, if there is one.
pub(super) fn message(error: Option<&str>) -> Option<String> {
    if let Some(text) = error.and_then(unquote) {
        return Some(text.into_owned()).filter(|text| !text.is_empty());
    }
    find(error?, "message", MAX_DEPTH)
}

fn code(error: Option<&str>) -> Option<String> {
    find(error?, "code", MAX_DEPTH)
}

/// The string under `key` in the error, or in a nested error.
fn find(error: &str, key: &str, depth: usize) -> Option<String> {
    let object = Object::parse(error.as_bytes()).ok().filter(|_| depth > 0)?;
    let own = object.string(key).filter(|text| !text.is_empty());
    match own {
        Some(text) => Some(text.into_owned()),
        None => find(object.present("error")?, key, depth - 1),
    }
}
