//! Rules for requests that pass to an upstream.
//!
//! If an upstream receives the operator's key and there are several tenants, no tenant may see the
//! stored objects of another, and the gateway does not know the owner of such an object. Only
//! stateless requests pass then. This excludes every request that creates an object, lists objects
//! or reads one by its id.

use antiphon::json::Object;
use bytes::Bytes;
use http::Method;

use crate::error::ApiError;
use crate::foreign_path::ForeignPath;
use crate::gateway::Gateway;
use crate::settings::PassThrough;
use crate::upstream::HttpUpstream;

/// Stateless requests with a JSON body. Chat completions are stored only on request.
const FORGOTTEN_JSON: [&str; 9] = [
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/moderations",
    "/rerank",
    "/audio/speech",
    "/images/generations",
    "/messages",
    "/messages/count_tokens",
];

/// Stateless requests that may have a form as body.
const FORGOTTEN_FORMS: [&str; 4] =
    ["/audio/transcriptions", "/audio/translations", "/images/edits", "/images/variations"];

/// Whether the body of this request is JSON; the content type is ignored.
pub(super) fn is_json(method: &Method, path: ForeignPath<'_>) -> bool {
    method == Method::POST && FORGOTTEN_JSON.contains(&path.as_str())
}

/// Rejects a request that the operator does not let pass to this upstream. `body` is the JSON of
/// the request, if it has any.
pub(super) fn check(
    gateway: &Gateway,
    upstream: &HttpUpstream,
    (method, path): (&Method, ForeignPath<'_>),
    body: Option<&Bytes>,
) -> Result<(), ApiError> {
    match policy(gateway, upstream) {
        PassThrough::All => Ok(()),
        PassThrough::Nothing => Err(ApiError::PassThroughDisabled {
            method: method.clone(),
            path: path.as_str().into(),
        }),
        PassThrough::Stateless if is_json(method, path) => check_not_stored(body),
        PassThrough::Stateless
            if method == Method::POST && FORGOTTEN_FORMS.contains(&path.as_str()) =>
        {
            Ok(())
        }
        PassThrough::Stateless => Err(ApiError::StatefulPathNotForwarded {
            method: method.clone(),
            path: path.as_str().into(),
        }),
    }
}

/// The requests that may pass to this upstream.
fn policy(gateway: &Gateway, upstream: &HttpUpstream) -> PassThrough {
    let is_shared = gateway.is_shared(upstream);
    let default = if is_shared { PassThrough::Stateless } else { PassThrough::All };
    gateway.settings.pass_through.unwrap_or(default)
}

/// Rejects a body that asks the upstream to store something, and one that is not a JSON object. A
/// server with another JSON parser might accept the latter.
fn check_not_stored(body: Option<&Bytes>) -> Result<(), ApiError> {
    let body = body.map_or(&b""[..], Bytes::as_ref);
    let fields = Object::parse(body).map_err(|_| ApiError::NotJson)?;
    // Some servers match keys without regard to case, and for them a long s equals an s.
    let stores = |(key, raw): (&str, &str)| {
        key.to_uppercase() == "STORE" && !["false", "null"].contains(&raw)
    };
    match fields.iter().any(stores) {
        true => Err(ApiError::StoreNotForwarded),
        false => Ok(()),
    }
}
