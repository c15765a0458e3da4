//! What may pass to an upstream.
//!
//! Where an upstream is shown the operator's key and there are several tenants, none may see what another
//! had it store, since the gateway does not know whose it is. What passes then is what an upstream
//! answers and forgets. That rules out whatever creates an object, lists objects or reads one by its id.

use antiphon::json::Object;
use bytes::Bytes;
use http::{Method, StatusCode};

use super::path::ForeignPath;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::settings::PassThrough;
use crate::upstream::HttpUpstream;

/// What is posted as JSON, answered and forgotten. Chat completions can be stored, where that is asked.
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

/// The same of what may be posted as a form.
const FORGOTTEN_FORMS: [&str; 4] =
    ["/audio/transcriptions", "/audio/translations", "/images/edits", "/images/variations"];

/// Whether a body that is posted here is JSON, whatever its content type says.
pub(super) fn is_json(method: &Method, path: ForeignPath<'_>) -> bool {
    method == Method::POST && FORGOTTEN_JSON.contains(&path.as_str())
}

/// Refuses what the operator does not let pass to this upstream. `body` is the JSON of a request that has
/// some.
pub(super) fn check(
    gateway: &Gateway,
    upstream: &HttpUpstream,
    (method, path): (&Method, ForeignPath<'_>),
    body: Option<&Bytes>,
) -> Result<(), ApiError> {
    match of(gateway, upstream) {
        PassThrough::All => Ok(()),
        PassThrough::Nothing => Err(ApiError::not_found(format!(
            "Invalid URL ({method} /v1{}): nothing passes to upstreams here (--pass-through none).",
            path.as_str()
        ))),
        PassThrough::Stateless if is_json(method, path) => stores_nothing(body),
        PassThrough::Stateless
            if method == Method::POST && FORGOTTEN_FORMS.contains(&path.as_str()) =>
        {
            Ok(())
        }
        PassThrough::Stateless => Err(kept_apart(
            &format!("{method} /v1{} does not pass to the upstream", path.as_str()),
            "what is stored there",
        )),
    }
}

fn of(gateway: &Gateway, upstream: &HttpUpstream) -> PassThrough {
    let is_shared = gateway.is_shared(upstream);
    let default = if is_shared { PassThrough::Stateless } else { PassThrough::All };
    gateway.settings.pass_through.unwrap_or(default)
}

/// A body that is no JSON object to the gateway may be one to a server that reads JSON otherwise.
fn stores_nothing(body: Option<&Bytes>) -> Result<(), ApiError> {
    let body = body.map_or(&b""[..], Bytes::as_ref);
    let fields = Object::parse(body).map_err(|_| ApiError::not_json())?;
    // Some servers read keys in letters of either case, in which a long s is one.
    let stores = |(key, raw): (&str, &str)| {
        key.to_uppercase() == "STORE" && !["false", "null"].contains(&raw)
    };
    match fields.iter().any(stores) {
        true => Err(kept_apart("'store' must be false", "completions stored there").param("store")),
        false => Ok(()),
    }
}

fn kept_apart(what: &str, objects: &str) -> ApiError {
    let message = format!(
        "{what}: several tenants share its account, and all of them would see {objects}. \
         --pass-through all lets it pass."
    );
    ApiError::of(StatusCode::FORBIDDEN, "invalid_request_error", message).code("not_passed_through")
}
