//! What went wrong, in whatever form an error comes.

use super::part::Part;
use crate::json::{Object, unquote};
use crate::stream::Failure;

/// How deep an error may stand in another: an event in an SDK's error, an error in an event.
const MAX_DEPTH: usize = 4;

/// The failure that an `error` part tells of. An error is a text, or an object with a `message`,
/// or one that holds such an object as `error`.
pub(super) fn of(part: Part<'_>) -> Failure {
    let error = part.get("error");
    let failure = Failure::server_error("The upstream failed without saying why.");
    Failure {
        code: code(error).unwrap_or(failure.code),
        message: message(error).unwrap_or(failure.message),
    }
}

/// The caller aborted the run. `abort` may say why.
pub(super) fn aborted(part: Part<'_>) -> Failure {
    let reason = part.string("reason").filter(|reason| !reason.is_empty());
    let message =
        reason.map_or_else(|| "The run was aborted.".into(), std::borrow::Cow::into_owned);
    Failure { code: "aborted".into(), message }
}

/// What an error says, if anything.
pub(super) fn message(error: Option<&str>) -> Option<String> {
    if let Some(text) = error.and_then(unquote) {
        return Some(text.into_owned()).filter(|text| !text.is_empty());
    }
    find(error?, "message", MAX_DEPTH)
}

fn code(error: Option<&str>) -> Option<String> {
    find(error?, "code", MAX_DEPTH)
}

/// The string of this name in the error, or in the one that it holds.
fn find(error: &str, key: &str, depth: usize) -> Option<String> {
    let object = Object::parse(error.as_bytes()).ok().filter(|_| depth > 0)?;
    let own = object.string(key).filter(|text| !text.is_empty());
    match own {
        Some(text) => Some(text.into_owned()),
        None => find(object.present("error")?, key, depth - 1),
    }
}
