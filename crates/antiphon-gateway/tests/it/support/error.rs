//! Errors as callers expect them.

use serde_json::{Value, json};

/// A refusal: its status and the members of its error body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// The caller's mistake: status 400.
pub(crate) fn invalid(param: Option<&str>, code: Option<&str>, message: &str) -> Refused {
    refused(400, param, code, message)
}

/// Something that does not exist: status 404.
pub(crate) fn not_found(param: Option<&str>, message: &str) -> Refused {
    refused(404, param, None, message)
}

fn refused(status: u16, param: Option<&str>, code: Option<&str>, message: &str) -> Refused {
    let body = json!({"error": {
        "message": message,
        "type": "invalid_request_error",
        "param": param.unwrap_or_default(),
        "code": code.unwrap_or_default(),
    }});
    Refused { status, body }
}
